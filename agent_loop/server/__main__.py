"""`python -m agent_loop.server`."""

import os
import sys

# Read when langgraph is imported: a database may not name classes, and prompts stay here.
os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"
os.environ["LANGSMITH_TRACING"] = os.environ["LANGCHAIN_TRACING_V2"] = "false"

try:
    from agent_loop.server.main import main
except ModuleNotFoundError as missing:
    if (missing.name or "").startswith("agent_loop"):
        raise
    sys.stderr.write(f"{missing.name} is not installed. Say: pip install 'agent-loop[web]'\n")
    sys.exit(2)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
