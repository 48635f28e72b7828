"""Recorded runs and script files: the right reply for the right ask, or a message saying where."""

import json

import pytest

from agent_loop.config import ModelSettings
from agent_loop.errors import ConfigError, ModelUnavailable
from agent_loop.models import Maker, make_model
from agent_loop.ports import Message
from tests.fakes.recorded import write_trace

ASK = [Message(role="user", content="Say hello.")]
RUN = [("lead", "plan", "", None), ("worker", "code", "hm", None), ("worker", "more", "", "length")]


def replayed(runs, *roles, answered=None):
    maker = Maker(runs=runs, answered=answered or {})
    return [maker.make(ModelSettings(provider="replay", model="t"), role) for role in roles]


def test_replies_come_in_order_role_by_role(tmp_path):
    write_trace(tmp_path / "t", RUN)
    lead, worker = replayed(tmp_path, "lead", "worker")
    first, second, third = lead.ask(ASK), worker.ask(ASK), worker.ask(ASK)
    assert [first.text, second.text, third.text] == ["plan", "code", "more"]
    assert (second.reasoning, third.finish, first.answered) == ("hm", "length", "replay:t")
    assert (first.usage.input_tokens, first.usage.output_tokens) == (9, 4)
    assert not first.notes


def test_another_way_through_says_where(tmp_path):
    write_trace(tmp_path / "t", RUN)
    lead, worker, reviewer = replayed(tmp_path, "lead", "worker", "reviewer")
    lead.ask(ASK)
    with pytest.raises(ModelUnavailable, match=r"reply 2 of the record is worker's \(node worker"):
        reviewer.ask(ASK)
    worker.ask(ASK)
    worker.ask(ASK)
    with pytest.raises(ModelUnavailable, match=r"holds 3 replies and worker asks for number 4"):
        worker.ask(ASK)


def test_a_prompt_that_differs_is_noted(tmp_path):
    write_trace(tmp_path / "t", RUN, prompt="Something else.")
    [lead] = replayed(tmp_path, "lead")
    assert "differs from the recorded one (node lead, lap 1)" in lead.ask(ASK).notes[0]


def test_a_resumed_replay_goes_on_where_it_was(tmp_path):
    write_trace(tmp_path / "t", RUN)
    [worker] = replayed(tmp_path, "worker", answered={"lead": 1, "worker": 1})
    assert worker.ask(ASK).text == "more"


def test_a_reply_recorded_twice_because_of_a_kill_counts_once(tmp_path):
    path = write_trace(tmp_path / "t", RUN[:1])
    once = path.read_text(encoding="utf-8")
    later = write_trace(tmp_path / "other", [("lead", "again", "", None)]).read_text("utf-8")
    unanswered = once.splitlines()[0] + "\n"
    path.write_text(once + unanswered + later, encoding="utf-8")
    lead, _ = replayed(tmp_path, "lead", "worker")
    assert lead.ask(ASK).text == "again"
    with pytest.raises(ModelUnavailable, match="holds 1 replies"):
        lead.ask(ASK)


@pytest.mark.parametrize("junk", ['{"kind": "model_rep', "[1]\n", "\x00\xff\n", '{"kind": 5}\n'])
def test_torn_and_foreign_lines_are_passed_over(tmp_path, junk):
    path = write_trace(tmp_path / "t", RUN)
    path.write_text(path.read_text(encoding="utf-8") + junk, encoding="utf-8")
    [lead] = replayed(tmp_path, "lead")
    assert lead.ask(ASK).text == "plan"


def test_no_trace_and_an_empty_one(tmp_path):
    with pytest.raises(ModelUnavailable, match=r"no trace at .*Type: loop.py --list"):
        replayed(tmp_path, "lead")
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "trace.jsonl").write_text(json.dumps({"kind": "run_started"}) + "\n")
    with pytest.raises(ModelUnavailable, match="holds no model reply"):
        replayed(tmp_path, "lead")


def script(folder, text):
    (folder / "s.yaml").write_text(text, encoding="utf-8")
    return ModelSettings(provider="scripted", model="s.yaml", retries=0)


def test_roles_have_lines_of_their_own_or_share_a_list(tmp_path):
    settings = script(tmp_path, "lead: [plan]\nreplies: [one, {text: two, reasoning: hm}]\n")
    maker = Maker(scripts=tmp_path)
    lead, worker, reviewer = (maker.make(settings, r) for r in ("lead", "worker", "reviewer"))
    assert [m.ask(ASK).text for m in (lead, worker, reviewer)] == ["plan", "one", "two"]
    with pytest.raises(ModelUnavailable, match=r"s.yaml \(lead\): the script has 1 replies"):
        lead.ask(ASK)


def test_a_resumed_script_passes_over_what_each_role_has_had(tmp_path):
    settings = script(tmp_path, "worker: [a, {fault: server}, b, c]\nreplies: [x, y]\n")
    maker = Maker(scripts=tmp_path, answered={"worker": 2, "lead": 1})
    assert maker.make(settings, "worker").ask(ASK).text == "c"
    assert maker.make(settings, "reviewer").ask(ASK).text == "y"


BAD = {
    "": "empty",
    "- a\n": "map",
    "workers: [a]\n": "is not a script",
    "worker: a\n": "is not a list of replies",
    "worker: [3]\n": "neither a text nor a mapping",
    "worker: [{txt: a}]\n": "unknown key 'txt'. Known: text",
    "worker: [{text: 3}]\n": "must be texts",
    "worker: [{delay_s: -1}]\n": "number of seconds",
    "worker: [{delay_s: yes}]\n": "number of seconds",
    "worker: [{fault: fire}]\n": "unknown fault 'fire'. Known: connection",
    "worker: [{finish: never}]\n": "stop or length",
    "reviewer: [a]\n": "no replies for worker",
    "a: &a [1]\nb: [*a, *a, *a]\n": "is not a script",
}


@pytest.mark.parametrize("text", BAD)
def test_a_bad_script_says_what_is_wrong(tmp_path, text):
    settings = script(tmp_path, text)
    with pytest.raises(ConfigError) as problem:
        Maker(scripts=tmp_path).make(settings, "worker")
    assert BAD[text] in str(problem.value)
    assert "s.yaml" in str(problem.value)


def test_a_missing_script_and_a_binary_one(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read as a script"):
        make_model(ModelSettings(provider="scripted", model="none.yaml"), replies=tmp_path)
    (tmp_path / "s.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="cannot be read as a script"):
        make_model(ModelSettings(provider="scripted", model="s.yaml"), replies=tmp_path)
