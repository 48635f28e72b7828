"""`python -m agent_loop.mcp_server`."""

import os
import sys

from agent_loop.mcp_server.streams import Wire, reserve

_HELP = {"-h", "--help", "--version"}


def _main() -> int:
    # Before anything else is imported: whatever prints from here on, it is not to the client.
    wire = Wire.standard() if _HELP & set(sys.argv[1:]) else reserve()
    os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"
    os.environ["LANGSMITH_TRACING"] = os.environ["LANGCHAIN_TRACING_V2"] = "false"
    try:
        from agent_loop.mcp_server.main import main  # noqa: PLC0415
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("agent_loop"):
            raise
        sys.stderr.write(f"{missing.name} is not installed. Say: pip install 'agent-loop[mcp]'\n")
        return 2
    return main(sys.argv[1:], os.environ, wire)


if __name__ == "__main__":
    sys.exit(_main())
