"""The door: `python -m agent_loop.benchgen`."""

import os
import sys

from agent_loop.benchgen.main import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
