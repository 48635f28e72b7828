"""The one entry point: `loop.py`, the console script and `python -m agent_loop`."""

import sys


def main() -> int:
    """Run the command line; returns the exit code."""
    return 2


if __name__ == "__main__":
    sys.exit(main())
