"""Row 'model swaps': 8 attempts on a server with room for one model, with the gate and without.

Two models that do not fit together, as CASES E6 has it: one writes plans and reviews, the other
code. The attempts are in the middle of an eval: every second one is at its worker's turn. The
server
speaks Ollama's protocol, answers one call at a time and pays for every load.
"""

import threading
import time
from collections.abc import Mapping
from typing import Any

from agent_loop.config import ModelSettings
from agent_loop.models.gate import MOST_PASSED, Gated, ModelGate
from agent_loop.models.make import make_model
from agent_loop.ports import Message
from benchmarks.row import Row
from tests.fakes.ollama_server import Kept, OllamaServer, Turn

LAPS = (3, 4, 3, 4, 5, 4, 3, 5)
"""Of each of the 8 attempts."""
LOAD_S = 0.05
ANSWER_S = 0.02
CHECK_S = 0.02


class _Server(OllamaServer):  # type: ignore[misc]
    """Answers one call at a time, as one slot does."""

    def __init__(self) -> None:
        super().__init__(models={"talker:1b": Kept(), "coder:1b": Kept()}, load_s=LOAD_S)
        self._slot = threading.Lock()

    def _say(self, handler: Any, name: str, body: Any, turn: Any) -> None:  # noqa: ANN401
        with self._slot:
            slow = Turn(text="ok", fault="slow_first_byte", seconds=ANSWER_S)
            super()._say(handler, name, body, slow)


def _attempt(models: Mapping[str, Gated], laps: int, *, at_worker: bool) -> None:
    say = [Message(role="user", content="go")]
    if not at_worker:
        models["talker"].ask(say)
    for _ in range(laps):
        models["coder"].ask(say)
        time.sleep(CHECK_S)
        models["talker"].ask(say)


def _loads(most_passed: int) -> tuple[int, float]:
    """(loads, seconds) of all attempts."""
    with _Server() as server:
        gate = ModelGate(most_passed=most_passed)
        models = {}
        for role in ("talker", "coder"):
            settings = ModelSettings(provider="ollama", model=f"{role}:1b", base_url=server.url)
            models[role] = Gated(make_model(settings), gate, settings.model)
            models[role].preflight()
        threads = [
            threading.Thread(
                target=_attempt, args=(models, laps), kwargs={"at_worker": bool(n % 2)}
            )
            for n, laps in enumerate(LAPS)
        ]
        began = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return len(server.loaded.loads), time.monotonic() - began


def model_swaps_row() -> Row:
    gated, gated_s = _loads(MOST_PASSED)
    plain, plain_s = _loads(0)
    return Row(
        what=f"model swaps, {len(LAPS)} attempts on one slot",
        ours=gated,
        theirs=plain,
        unit="loads",
        against="first come, first served",
        goal=0.33,
        spread=f"{gated_s:.1f} s against {plain_s:.1f} s in all",
    )
