"""The tools of an episode and the gate, for any client that speaks MCP."""
