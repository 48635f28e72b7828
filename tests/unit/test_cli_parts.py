"""The parts of the command line, each by itself."""

import argparse
import io
import os
import pty  # these are tests for systems that have terminals of that kind
import signal
import threading
import time
from contextlib import contextmanager
from dataclasses import replace

import pytest
from rich.console import Console

from agent_loop.assemble.stopping import Stopper
from agent_loop.cli import tables
from agent_loop.cli.batch import next_steps
from agent_loop.cli.live import Board
from agent_loop.cli.narrate import lines
from agent_loop.cli.options import read
from agent_loop.cli.owner import CannedOwner, TerminalOwner, Typist
from agent_loop.config import load
from agent_loop.errors import BadOption, ThreadError
from agent_loop.evals.options import options_of, parser
from agent_loop.ports import OwnerCall, OwnerReply
from agent_loop.store import reply_from_text
from agent_loop.terminal.numbers import above_zero, whole
from agent_loop.terminal.screen import Screen

ESCAPE = "\x1b[2J\x1b]0;owned\x07\u202e"


@contextmanager
def shown(width=100):
    """A screen whose people read a string."""
    screen = Screen()
    out = io.StringIO()
    screen.people = Console(file=out, markup=False, emoji=False, highlight=False, width=width)
    yield screen, out


# --- options ------------------------------------------------------------------------------------


def test_every_option_of_the_contract():
    got = read(
        ["a.yaml", "--set", "retries=1", "--model", "worker=ollama:m", "b", "--config", "c.yaml",
         "--budget", "1000", "--time-limit", "2.5", "--jobs", "2", "--max-pauses", "0",
         "--resume", "accept", "--json", "--quiet", "--model", "all=embedded:x"]
    )  # fmt: skip
    assert [str(p) for p in got.tasks] == ["a.yaml", "b"]
    assert got.sets == (
        "retries=1", "models.worker='ollama:m'", "models.lead='embedded:x'",
        "models.worker='embedded:x'", "models.reviewer='embedded:x'",
    )  # fmt: skip
    assert (got.budget_tokens, got.time_limit_s, got.jobs, got.max_pauses) == (1000, 2.5, 2, 0)
    assert (got.owner_reply, got.json, got.quiet) == ("accept", True, True)
    assert read(["--continue", "t"]).continued == "t"


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ("--list --show x", "--list and --show do not go together. Give one of them."),
        ("--verify x a.yaml", "--verify takes no task file"),
        ("--cap a.yaml", "--cap is for the built-in task"),
        ("--cap --list", "--cap starts a new run"),
        ("--thread x a.yaml b.yaml", "--thread names one run"),
        ("--thread x --continue y", "--thread names a new run"),
        ("--model worker", "not ROLE=PROVIDER:MODEL"),
        ("--model boss=ollama:x", "ROLE is one of lead, worker, reviewer, escalation, all"),
    ],
)
def test_options_that_do_not_go_together(argv, message):
    with pytest.raises(BadOption) as caught:
        read(argv.split())
    assert message in str(caught.value)


@pytest.mark.parametrize("name", ["m", "my: replies.yaml", "a #1.yaml", "{task}.yaml", "it's", "'"])
def test_every_door_takes_the_name_of_a_model_as_it_is(name):
    option = ["--model", f"worker=scripted:{name}"]
    of_evals = options_of(parser().parse_args(option))
    for sets in (read(option).sets, of_evals.sets):
        assert load(None, {}, sets).models["worker"] == f"scripted:{name}"


@pytest.mark.parametrize("name", ["a/b", "..", "-x", "a b", "x.json", "\u202e", "a" * 101])
@pytest.mark.parametrize("option", ["--thread", "--continue", "--show", "--verify", "--replay"])
def test_thread_names_are_checked_first(option, name):
    with pytest.raises(ThreadError):
        read([f"{option}={name}"])


@pytest.mark.parametrize("argv", ["--jobs 0", "--jobs x", "--budget -1", "--time-limit 0",
                                  "--time-limit nan", "--fork x", "--purge", "--lis"])  # fmt: skip
def test_argparse_refuses_with_two(argv, capsys):
    with pytest.raises(SystemExit) as stop:
        read(argv.split())
    assert stop.value.code == 2
    assert "error:" in capsys.readouterr().err


NUMBERS = {
    "5": 5, "1": 1, "64": 64, "0": None, "65": None, "-1": None, "1.5": None, "": None, "x": None,
    "٣": 3, "nan": None, "9" * 5_000: None,
}  # fmt: skip


@pytest.mark.parametrize(("text", "value"), NUMBERS.items(), ids=lambda value: str(value)[:9])
def test_a_number_of_an_option_is_in_its_range_or_refused_in_few_words(text, value):
    read_it = whole(1, 64)
    if value is not None:
        assert read_it(text) == value
        return
    with pytest.raises(argparse.ArgumentTypeError, match="no whole number from 1 to 64") as said:
        read_it(text)
    assert len(str(said.value)) < 100


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "1e9", "", "x", "9" * 5_000])
def test_a_measure_is_above_zero(text):
    assert above_zero("seconds")("2.5") == 2.5
    with pytest.raises(argparse.ArgumentTypeError, match="no number of seconds above 0") as said:
        above_zero("seconds")(text)
    assert len(str(said.value)) < 100


# --- lines and tables ---------------------------------------------------------------------------

HOSTILE_EVENTS = [
    ("run_started", {"task": ESCAPE, "resumed": False}),
    ("model_replied", {"node": "lead", "lap": 0, "answered": "x:y", "text": f"plan {ESCAPE}\n" * 30,
                       "usage": {"seconds": 1.0, "input_tokens": 5, "output_tokens": 2},
                       "notes": [ESCAPE], "context_cut": True, "finish": "length"}),
    ("candidate_refused", {"lap": 1, "problem": ESCAPE}),
    ("repeated", {"lap": 2, "repeat_of": ESCAPE, "problem": ESCAPE}),
    ("verdict", {"lap": 1, "passed": True, "reason": f"ok {ESCAPE}", "looks": [{"signal": "x"}]}),
    ("verdict", {"lap": 1, "passed": "yes", "reason": "a text is no pass"}),
    ("review", {"lap": 1, "approved": False, "text": f"[bold]no[/bold] :smile: {ESCAPE}"}),
    ("review", {"lap": 1, "approved": True}),
    ("paused", {"nonce": "n"}),
    ("owner_replied", {"source": "terminal", "answer": "guidance", "text": ESCAPE}),
    ("fault", {"node": "check", "problem": ESCAPE}),
    ("model_text", {"node": "worker", "text": ESCAPE}),
    ("no such kind", {}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "fields"), HOSTILE_EVENTS)
def test_every_event_is_told_without_acting_on_the_terminal(kind, fields):
    for empty in ({}, fields):
        for line in lines(kind, empty):
            assert "\x1b" not in line.text
            assert "\u202e" not in line.text
            assert "\x07" not in line.text


def test_what_the_lines_say():
    said = {kind: [line.text for line in lines(kind, fields)] for kind, fields in HOSTILE_EVENTS}
    assert said["review"] == ["lap 1 review: approved"]
    assert said["verdict"] == ["lap 1 check: not passed: a text is no pass"]
    assert said["model_replied"][0].endswith("cut at its token limit  [x:y]")
    assert any("18 more lines" in text for text in said["model_replied"])
    assert "  the server cut the prompt (truncated)" in said["model_replied"]


def test_markup_and_emoji_codes_stay_text():
    with shown() as (screen, out):
        for kind, fields in HOSTILE_EVENTS:
            for line in lines(kind, fields):
                screen.say(line.text, line.style)
    assert "[bold]no[/bold] :smile:" in out.getvalue()
    assert "\x1b" not in out.getvalue()


def test_unknown_tokens_are_not_zero():
    record = {
        "tokens": {
            "lead": {"calls": 1, "unmeasured_calls": 1, "input_tokens": 0, "output_tokens": 0},
            "worker": {"calls": 2, "unmeasured_calls": 1, "input_tokens": 7, "output_tokens": 3},
            "reviewer": {"calls": 1, "input_tokens": 1234, "output_tokens": 5, "seconds": 2.0},
        }
    }
    with shown() as (screen, out):
        screen.show(tables.token_table(record))
    rows = {line.split()[0]: line.split()[1:] for line in out.getvalue().splitlines()}
    assert rows["lead"] == ["1", "unknown", "unknown", "unknown", "0.0", "0.0", "0"]
    assert rows["worker"] == ["2", "7+?", "0+?", "3+?", "0.0", "0.0", "0"]
    assert rows["reviewer"] == ["1", "1,234", "0", "5", "2.0", "0.0", "0"]
    assert rows["together"] == ["4", "1,241+?", "0+?", "8+?", "2.0", "0.0", "0"]


RECORD = {
    "thread": "t", "outcome": "passed", "look": True, "reason": "all held", "answer": f"x{ESCAPE}",
    "verdict": {"passed": True, "isolation": "separate", "reason": "5 of 5 asserts held",
                "proofs": [{"name": "every assert ran", "held": True, "detail": ESCAPE},
                           {"name": "twins fail", "held": False}],
                "looks": [{"signal": "no hidden tests", "detail": ESCAPE}]},
    "tokens": {}, "plan": ESCAPE, "fingerprints": {"lead": {"name": ESCAPE, "answered": "b"}},
}  # fmt: skip


def test_show_is_whole_and_safe():
    with shown() as (screen, out):
        for line in tables.whole(RECORD):
            screen.result(line.text, line.style)
    text = out.getvalue()
    assert "t: passed, look: all held" in text
    assert "proof held: every assert ran" in text
    assert "proof NOT held: twins fail" in text
    assert "look: no hidden tests" in text
    assert "\x1b" not in text
    assert "\u202e" not in text


@pytest.mark.parametrize("record", [{}, {"verdict": "x", "tokens": [], "fingerprints": 3}])
def test_a_broken_record_is_still_shown(record):
    assert tables.whole(record)
    assert tables.token_table(record) is None


def test_the_live_panel_shows_role_lap_and_tail():
    with shown() as (screen, out):
        board = Board(screen)
        listener = board.listener("thread-1", named=False)
        listener.emit("node_started", {"node": "worker", "lap": 2})
        listener.emit("model_asked", {"model": "ollama:m"})
        listener.emit("model_text", {"text": f"def f():\n    return{ESCAPE} 1"})
        screen.people.print(board)
        first = out.getvalue()
        listener.emit("node_finished", {"node": "worker"})
        listener.emit("run_ended", {"outcome": "passed", "reason": "x"})
        screen.people.print(board)
    assert "thread-1 · lap 2 · worker · ollama:m" in first
    assert "│     return\\x1b[2J" in first
    assert out.getvalue().removeprefix(first).strip() == ""


# --- the owner ----------------------------------------------------------------------------------

CALL = OwnerCall(thread="t", nonce="n", question="what now?", tests_passed=False, rejections=3)


def terminal_owner(screen, stream, *, mailbox=lambda call: None, stopping=None):
    return TerminalOwner(
        Board(screen),
        Typist(stream),
        turn=threading.Lock(),
        mailbox=mailbox,
        understand=lambda line: reply_from_text(line, "terminal"),
        stopping=stopping or threading.Event(),
    )


@contextmanager
def keyboard():
    """A terminal to type into."""
    ours, theirs = pty.openpty()
    stream = os.fdopen(theirs, "r")
    try:
        yield ours, stream
    finally:
        os.close(ours)
        time.sleep(0.1)  # the reading thread sees the end
        stream.close()


def test_an_empty_line_is_asked_again_and_the_answer_counts():
    with shown() as (screen, out), keyboard() as (ours, stream):
        threading.Timer(0.3, os.write, (ours, b"\nSTOP.\n")).start()
        reply = terminal_owner(screen, stream).answer(CALL)
    assert (reply.kind, reply.source) == ("stop", "terminal")
    assert "the check did NOT pass after 3 rejections" in out.getvalue()
    assert "the answer is empty" in out.getvalue()


def test_what_would_be_accepted_is_shown_before_the_question_and_made_safe():
    call = replace(CALL, answer="+    return width" + ESCAPE)
    with shown() as (screen, out), keyboard() as (ours, stream):
        threading.Timer(0.3, os.write, (ours, b"accept\n")).start()
        assert terminal_owner(screen, stream).answer(call).kind == "accept"
    text = out.getvalue()
    assert text.index("+    return width") < text.index("what now?")
    assert "\x1b[2J" not in text


def test_the_end_says_what_to_type_next(tmp_path):
    patch = tmp_path / "a b.patch"
    assert next_steps("t", "passed", patch) == []
    patch.write_text("x")
    assert next_steps("t", "accepted", patch)[0].endswith(f"apply '{patch.resolve()}'")
    assert next_steps("t", "capped", patch) == []
    paused = next_steps("t", "paused", patch)
    assert paused[-1] == "answer it with: --continue t --owner-reply TEXT"


def test_the_mailbox_wins_while_the_terminal_waits():
    answers = iter([None, None, OwnerReply(kind="accept", text="accept", source="mailbox")])
    with shown() as (screen, _), keyboard() as (_, stream):
        reply = terminal_owner(screen, stream, mailbox=lambda call: next(answers)).answer(CALL)
    assert reply.source == "mailbox"


def test_nobody_there_leaves_the_run_paused():
    with shown() as (screen, _):
        assert terminal_owner(screen, io.StringIO("stop\n")).answer(CALL) is None


def test_the_end_of_input_leaves_the_run_paused():
    with shown() as (screen, _), keyboard() as (ours, stream):
        threading.Timer(0.3, os.write, (ours, b"\x04")).start()
        assert terminal_owner(screen, stream).answer(CALL) is None


@pytest.mark.timeout(60)
def test_an_end_of_input_between_two_questions_answers_those_that_follow():
    with shown() as (screen, _), keyboard() as (ours, stream):
        threading.Timer(0.3, os.write, (ours, b"stop\nstop\n\x04")).start()
        owner = terminal_owner(screen, stream)
        assert owner.answer(CALL).kind == "stop"
        time.sleep(0.3)  # the second line and the end are read, and nobody asked for them
        assert owner.answer(CALL) is None
        assert owner.answer(CALL) is None


def test_ctrl_c_ends_the_question():
    stopping = threading.Event()
    with shown() as (screen, _), keyboard() as (_, stream):
        threading.Timer(0.3, stopping.set).start()
        assert terminal_owner(screen, stream, stopping=stopping).answer(CALL) is None


def test_canned_answers_are_given_in_order_and_once():
    class Nobody:
        def answer(self, call):
            return None

    reply = OwnerReply(kind="guidance", text="again", source="argument")
    owner = CannedOwner((reply, reply), then=Nobody())
    assert [owner.answer(CALL) for _ in range(3)] == [reply, reply, None]


# --- stopping -----------------------------------------------------------------------------------


def test_two_steps():
    said = []
    before = signal.getsignal(signal.SIGINT)  # ignored where the tests run in the background
    stopper = Stopper(said.append)
    with stopper.control() as first, stopper.listening():
        os.kill(os.getpid(), signal.SIGINT)
        wait_for(lambda: first.asked)
        assert not first.cancelled.is_set()
        os.kill(os.getpid(), signal.SIGINT)
        wait_for(first.cancelled.is_set)
        with stopper.control() as late:
            assert late.asked
    assert len(said) == 2
    assert signal.getsignal(signal.SIGINT) is before


def wait_for(held):
    end = time.monotonic() + 60
    while not held():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_the_panel_and_the_lines_never_wait_for_each_other(monkeypatch):
    """They did: say() held the board's lock and wanted rich's, the panel's thread the other way."""
    screen = Screen()
    screen.people = Console(file=io.StringIO(), force_terminal=True, width=80)
    board = Board(screen)
    monkeypatch.setattr(Board, "__rich__", slowly(Board.__rich__))
    done = threading.Event()

    def talk():
        listener = board.listener("t", named=False)
        for lap in range(10):
            listener.emit("node_started", {"node": "worker", "lap": lap})
            listener.emit("review", {"lap": lap, "approved": True})
        done.set()

    with board.shown():
        board._live.refresh_per_second = 1000
        threading.Thread(target=talk, daemon=True).start()
        for _ in range(200):
            board._live.refresh()
            if done.is_set():
                break
        assert done.wait(60)


def slowly(render):
    def wrapped(board):
        time.sleep(0.002)
        return render(board)

    return wrapped
