"""Starts the screening server with a fixed hash seed, which only a new interpreter can have."""

import os
import sys

FOLDER = "/tmp/screen"
START = (
    f"import sys; sys.path.append({FOLDER!r}); import agent_loop_screen; agent_loop_screen.main()"
)


def main() -> None:
    """Lay the texts down and become that interpreter; the pipe stays."""
    os.makedirs(FOLDER)
    for name, text in sys.modules["agent_loop_texts"].FILES.items():
        with open(os.path.join(FOLDER, f"{name}.py"), "w", encoding="utf-8") as file:
            file.write(text)
    argv = [sys.executable, "-s", "-P", "-B", "-u", "-c", START]
    os.execve(sys.executable, argv, {**os.environ, "PYTHONHASHSEED": "0"})
