"""The LangGraph state machine; the only room that imports langgraph; owns checkpoints.sqlite."""
