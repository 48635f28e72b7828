"""Config + task -> a ready run; the only room that names implementations."""

from agent_loop.assemble.benches import Benches
from agent_loop.assemble.company import refuse_unpriced
from agent_loop.assemble.judging import make_check, refuse_unjudgeable
from agent_loop.assemble.stored import Verified, refuse_ended, refuse_taken, stored_map
from agent_loop.assemble.workshop import Ask, Workshop
from agent_loop.assemble.yard import Yard
from agent_loop.config import state_dir

__all__ = [
    "Ask",
    "Benches",
    "Verified",
    "Workshop",
    "Yard",
    "make_check",
    "refuse_ended",
    "refuse_taken",
    "refuse_unjudgeable",
    "refuse_unpriced",
    "state_dir",
    "stored_map",
]
