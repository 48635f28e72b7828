"""`python -m agent_loop.dashboard`."""

import os
import sys

try:
    from agent_loop.dashboard.main import main
except ModuleNotFoundError as missing:
    if (missing.name or "").startswith("agent_loop"):
        raise
    sys.stderr.write(f"{missing.name} is not installed. Say: pip install 'agent-loop[web]'\n")
    sys.exit(2)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
