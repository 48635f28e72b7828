"""Traces Python processes that a test starts: their `sitecustomize`, in the traced run only."""

import json
import os
from typing import Any


def main() -> None:
    """Note the lines of this process under the test that its environment names."""
    folder = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, "trace.json"), encoding="utf-8") as file:
        wanted = json.load(file)
    out = os.open(os.path.join(folder, "lines.out"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]

    def write(**record: object) -> None:
        os.write(out, (json.dumps(record) + "\n").encode())

    lines: dict[str, Any] = {}
    with open(os.path.join(folder, "lines.py"), encoding="utf-8") as file:
        exec(compile(file.read(), "lines.py", "exec"), lines)
    lines["start"]({**wanted, "tests": []}, write, {"id": test})


if os.environ.get("PYTEST_CURRENT_TEST"):
    main()
