"""`python -m agent_loop.evals`."""

import os
import sys

# Read when langgraph is imported: a database may not name classes, and prompts stay here.
os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"
os.environ["LANGSMITH_TRACING"] = os.environ["LANGCHAIN_TRACING_V2"] = "false"

from agent_loop.evals.main import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
