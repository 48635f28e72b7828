"""What stands in front of both web doors: who may ask, from where, how much and how often.

Knows nothing of runs. `Guard` wraps any ASGI application; `Launch` holds the secrets of one start.
"""

from agent_loop.webguard.answers import WebError, failed, refusal
from agent_loop.webguard.guard import CALLER, Bounds, Guard
from agent_loop.webguard.launch import Launch
from agent_loop.webguard.rate import Rate
from agent_loop.webguard.serving import bound, serve

__all__ = [
    "CALLER",
    "Bounds",
    "Guard",
    "Launch",
    "Rate",
    "WebError",
    "bound",
    "failed",
    "refusal",
    "serve",
]
