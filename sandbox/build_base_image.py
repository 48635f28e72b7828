"""`make image`: the same as `python -m agent_loop.sandbox [--clean]`."""

import os
import sys

from agent_loop.sandbox.__main__ import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
