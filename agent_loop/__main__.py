"""The one entry point: `loop.py`, the console script and `python -m agent_loop`."""

import os
import sys

# Read when langgraph is imported: a database may not name classes, and prompts stay here.
os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"
os.environ["LANGSMITH_TRACING"] = os.environ["LANGCHAIN_TRACING_V2"] = "false"

from agent_loop import cli, doctor


def main() -> int:
    """Run the command line; returns the exit code."""
    argv = sys.argv[1:]
    if "--doctor" in argv:
        return doctor.main(argv, os.environ)
    return cli.main(argv, os.environ)


if __name__ == "__main__":
    sys.exit(main())
