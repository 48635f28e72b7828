"""Run agent-loop from a clone: `python loop.py [TASK.yaml | DIR ...]`."""

import sys

from agent_loop.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
