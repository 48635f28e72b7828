"""`--doctor`: looks at everything a run needs, one line each with the fix."""

from agent_loop.doctor.main import main

__all__ = ["main"]
