"""Whether what a test needs is here; where it must be here, its absence fails."""

import os

import pytest

from agent_loop.errors import ModelUnavailable
from agent_loop.models.embedded.loading import installed_runtime
from agent_loop.models.embedded.weights import weights_file


def needs_embedded():
    try:
        weights_file("smollm2-135m")
        installed_runtime()
    except ModelUnavailable as problem:
        if os.environ.get("REQUIRE_EMBEDDED") == "1":
            pytest.fail(str(problem))
        pytest.skip(str(problem))
