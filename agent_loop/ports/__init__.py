"""The seams of the system, and the frozen values that cross them.

Implementations live in rooms above and never import each other; `assemble` joins them.
"""

from agent_loop.ports.check import Candidate, Check, LinesRan, Look, Proof, Verdict
from agent_loop.ports.model import BadCall, Fingerprint, Message, Model, Reply, Usage
from agent_loop.ports.run import Clock, Events, Owner, OwnerCall, OwnerReply, SystemClock
from agent_loop.ports.sandbox import (
    Box,
    Exit,
    Limits,
    Mount,
    ProbeLine,
    Program,
    Sandbox,
    Session,
    Workspace,
)
from agent_loop.ports.tools import Observation, Toolbox, ToolCall, ToolSpec
from agent_loop.ports.words import FINAL, Cancel, Isolation, Json, Outcome, Role

__all__ = [
    "FINAL",
    "BadCall",
    "Box",
    "Cancel",
    "Candidate",
    "Check",
    "Clock",
    "Events",
    "Exit",
    "Fingerprint",
    "Isolation",
    "Json",
    "Limits",
    "LinesRan",
    "Look",
    "Message",
    "Model",
    "Mount",
    "Observation",
    "Outcome",
    "Owner",
    "OwnerCall",
    "OwnerReply",
    "ProbeLine",
    "Program",
    "Proof",
    "Reply",
    "Role",
    "Sandbox",
    "Session",
    "SystemClock",
    "ToolCall",
    "ToolSpec",
    "Toolbox",
    "Usage",
    "Verdict",
    "Workspace",
]
