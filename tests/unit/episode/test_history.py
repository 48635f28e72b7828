"""What is sent only grows at its end; near the limit a fresh list begins, and nothing is edited."""

import itertools
import json

import pytest

from agent_loop.models import Line, ScriptedModel
from agent_loop.ports import Message
from tests.fakes.clock import FakeClock
from tests.fakes.episodes import FILES, OPENING, does, episode, says
from tests.fakes.toolbox import BASH, MemoryToolbox


def sent(model):
    """Every prompt as bytes, message by message."""
    return [
        [
            json.dumps(
                [
                    m.role,
                    m.content,
                    m.tool_call_id,
                    [[c.id, c.name, dict(c.arguments)] for c in m.tool_calls],
                    m.raw,
                ]
            ).encode()
            for m in asked
        ]
        for asked in model.asked
    ]


class Obliging(ScriptedModel):
    """Says its lines, and sums up whenever it is asked to."""

    def __init__(self, lines, summary):
        super().__init__("scripted:obliging", lines)
        self._summing = ScriptedModel("scripted:summing", [summary] * 3)

    def ask(self, messages, **more):
        if "Write a summary" in messages[-1].content:
            self.asked.append(tuple(messages))
            return self._summing.ask(messages, **more)
        return super().ask(messages, **more)


def long_episode(protocol, summary="I looked at a.py; f() returns 1 and should return 2."):
    call = does if protocol == "native" else says
    lines = [call("bash", command=f"yes {400 + n}") for n in range(8)]
    model = Obliging([*lines, call("submit")], summary)
    box = MemoryToolbox(FILES, specs=BASH)
    return episode(model=model, box=box, protocol=protocol, context_tokens=2_600)


def check_growing(model, histories):
    prompts = sent(model)
    starts = [0]
    for n, (before, after) in enumerate(itertools.pairwise(prompts), start=1):
        if after[: len(before)] != before:
            starts.append(n)
    # As many breaks as there were summaries, and none of the lists kept was touched later.
    assert len(starts) == len(histories)
    kept = [[json.dumps([m.role, m.content]).encode() for m in one] for one in histories]
    for start, end, whole in zip(starts, [*starts[1:], len(prompts)], kept, strict=True):
        for prompt in model.asked[start:end]:
            told = [json.dumps([m.role, m.content]).encode() for m in prompt]
            assert whole[: len(told)] == told
    return prompts, starts


def test_compaction_leaves_the_history_before_it_byte_for_byte():
    for protocol in ("native", "text"):
        done, _, model, heard = long_episode(protocol)
        assert done.reason == "submitted", done
        assert len(done.histories) == 2
        prompts, starts = check_growing(model, done.histories)
        assert len(starts) == 2
        first, second = prompts[starts[1] - 1], prompts[starts[1]]
        assert "Write a summary" in first[-1].decode()
        assert len(second) == 2
        assert "f() returns 1 and should return 2" in second[1].decode()
        assert "bash" in second[1].decode()
        assert model.asked[starts[1]][0].content == model.asked[0][0].content
        [told] = heard.of("episode_summary")
        assert told["text"].startswith("I looked at")


def test_the_control_an_edited_history_is_seen():
    """`check_growing` itself fails for a list whose beginning is rewritten."""
    done, _, model, _ = long_episode("native")
    model.asked[2] = (Message(role="system", content="rewritten"), *model.asked[2][1:])
    with pytest.raises(AssertionError):
        check_growing(model, done.histories)


def test_the_providers_own_content_is_sent_back_unchanged():
    from agent_loop.models.asking import Asking
    from agent_loop.models.provider import Spent
    from agent_loop.ports import Fingerprint, ToolCall

    raw = {"form": "test", "content": [{"type": "thinking", "thinking": "hm", "signature": "s=="}]}

    class Provider:
        answered, native_tools = "test:one", True

        def __init__(self):
            self.seen = []

        def preflight(self): ...

        def once(self, messages, into, *, attempt, cancel, tools=()):
            self.seen.append(tuple(messages))
            name = "view" if len(self.seen) == 1 else "submit"
            arguments = {"path": "a.py"} if name == "view" else {}
            call = ToolCall(id=f"id{len(self.seen)}", name=name, arguments=arguments)
            return Spent(tool_calls=(call,), raw=raw, input_tokens=1, output_tokens=1)

        def fingerprint(self):
            return Fingerprint(name="x", answered="x")

        def close(self): ...

    provider = Provider()
    done, *_ = episode(model=Asking(provider, clock=FakeClock()))
    assert done.reason == "submitted"
    [_, second] = provider.seen
    assert second[2].raw is raw
    assert (second[2].tool_calls[0].id, second[3].tool_call_id) == ("id1", "id1")


def test_events_hold_each_message_once():
    done, _, model, heard = long_episode("native")
    asked = heard.of("model_asked")
    rebuilt, before = [], []
    for event in asked:
        before = before[: event["kept"]] + [m["content"] for m in event["messages"]]
        rebuilt.append(before)
    assert rebuilt == [[m.content for m in prompt] for prompt in model.asked]
    assert sum(len(e["messages"]) for e in asked) < 2 * sum(len(h) for h in done.histories)


def test_a_summary_that_is_empty_still_leaves_what_was_done():
    done, _, model, _ = long_episode("native", Line())
    assert (done.reason, len(done.histories)) == ("submitted", 2)
    assert "you wrote none" in model.asked[-1][1].content
    assert "yes 40" in model.asked[-1][1].content


def test_an_answer_of_nothing_is_not_sent_as_nothing():
    _, _, model, _ = episode(Line(), does("submit"))
    assert model.asked[1][2].content == "(no answer)"


def test_the_opening_is_the_same_object_of_every_run():
    one, two = (
        ScriptedModel("scripted:a", [does("submit")]),
        ScriptedModel("scripted:b", [does("submit")]),
    )
    episode(model=one)
    episode(model=two)
    assert one.asked[0] == two.asked[0] == OPENING
