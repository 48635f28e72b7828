"""The command line from end to end: scripted models, real containers."""

# ruff: noqa: E501 - a command and what it says read best on one line

import json
import os
import select
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agent_loop.cli import main

ROOT = Path(__file__).resolve().parents[2]
RIGHT = "```python\ndef is_palindrome(s):\n    return s == s[::-1]\n```"
WRONG = [f"```python\ndef is_palindrome(s):\n    return {n!r}\n```" for n in range(8)]
ADD = "```python\ndef add(a, b):\n    return a + b\n```"
HOSTILE = "\x1b[2J\x1b]0;owned\x07\u202eAPPROVED [bold]x[/bold]\u2028"
ALL = ["--model", "all=scripted:script.yaml"]

pytestmark = pytest.mark.docker


@pytest.fixture
def here(tmp_path, monkeypatch, base_image):
    """A folder of its own with the base image at hand."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(here, capsys):
    """Run a command in this process; (exit code, standard output, standard error)."""

    def command(*arguments, env=None):
        capsys.readouterr()
        code = main(list(arguments), env or {})
        out, err = capsys.readouterr()
        return code, out, err

    return command


def script(folder, name="script.yaml", **lines):
    (folder / name).write_text(json.dumps(lines))


def passing(folder, name="script.yaml"):
    script(folder, name, lead=["plan"], worker=[RIGHT], reviewer=["APPROVED"])


def capped(folder):
    script(folder, lead=["plan"], worker=WRONG, reviewer=["REJECTED"] * 8)


def record(folder, thread):
    return json.loads((folder / "runs" / f"{thread}.json").read_text())


# --- new runs -------------------------------------------------------------------------------------


def test_no_argument_runs_the_built_in_task(run, here):
    passing(here)
    code, out, _ = run(*ALL)
    assert code == 0
    for said in ("task palindrome starts", "plan:", "lap 1 check: passed", "proof held",
                 "reviewer", "together", ": passed: "):  # fmt: skip
        assert said in out
    (thread,) = (p.stem for p in (here / "runs").glob("palindrome-*.json"))
    assert record(here, thread)["outcome"] == "passed"


def test_a_folder_with_a_bad_file_runs_the_others(run, here):
    folder = here / "t"
    folder.mkdir()
    (folder / "a.yaml").write_text((ROOT / "tasks" / "add.yaml").read_text())
    (folder / "b.yaml").write_text("task: x\ntets: []\n")
    (folder / "c.yaml").write_text((ROOT / "tasks" / "is_even.yaml").read_text())
    script(here, replies=["plan", ADD, "APPROVED", "plan", "no code here", "REJECTED"])
    code, out, err = run("t", "no.yaml", *ALL, "--set", "rejection_cap=1", "--max-pauses", "0")
    assert code == 2
    assert "b.yaml:2: unknown key 'tets' (did you mean 'tests'?)" in err
    assert "no.yaml: does not exist" in err
    rows = {line.split()[0]: line.split()[1] for line in out.splitlines()[-4:]}
    assert rows == {"no.yaml": "error", "t/b.yaml": "error", "a": "passed", "c": "capped"}


def test_json_is_one_object_a_run_and_nothing_else(run, here):
    script(here, replies=["plan", ADD, "APPROVED", "plan", ADD, "REJECTED"])
    task = str(ROOT / "tasks" / "add.yaml")
    (here / "add2.yaml").write_text(Path(task).read_text())
    code, out, err = run(task, "add2.yaml", "bad.yaml", *ALL, "--json", "--max-pauses", "0",
                         "--set", "rejection_cap=1")  # fmt: skip
    objects = [json.loads(line) for line in out.splitlines()]
    assert [o["outcome"] for o in objects] == ["error", "passed", "capped"]
    assert [o["exit_code"] for o in objects] == [2, 0, 1]
    assert code == 2
    assert "lap 1 check: passed" in err


def test_quiet_says_only_how_it_ended(run, here):
    passing(here)
    code, out, err = run(*ALL, "--quiet", "--thread", "q")
    assert (code, err) == (0, "")
    assert len(out.splitlines()) == 1
    assert out.startswith("q: passed: ")


def test_hostile_words_act_on_nothing(run, here):
    script(
        here, lead=[HOSTILE * 3], worker=[f"{HOSTILE}\n{RIGHT}"], reviewer=[f"APPROVED {HOSTILE}"]
    )
    _, out, err = run(*ALL, "--thread", "h")
    _, shown, _ = run("--show", "h")
    _, listed, _ = run("--list")
    for text in (out, err, shown, listed):
        assert not set(text) & set("\x1b\x07\u202e\u2028")
    assert "[bold]x[/bold]" in out


def test_a_legacy_code_page_cannot_kill_the_output(here):
    script(here, lead=["naïve → 计划 ✓"], worker=[RIGHT], reviewer=["APPROVED"])
    env = {**os.environ, "PYTHONIOENCODING": "cp1252:strict", "PYTHONUTF8": "0"}
    argv = [sys.executable, str(ROOT / "loop.py"), *ALL]
    done = subprocess.run(argv, cwd=here, capture_output=True, env=env, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "naïve → 计划 ✓" in done.stdout.decode("utf-8")


def test_a_closed_pipe_is_no_traceback(here):
    passing(here)
    argv = f"{sys.executable} {ROOT / 'loop.py'} {' '.join(ALL)} | head -n 1"
    done = subprocess.run(["bash", "-c", argv], cwd=here, capture_output=True, timeout=120)
    assert b"Traceback" not in done.stderr


def test_several_at_a_time(run, here):
    passing(here)
    for name in "abc":
        (here / f"{name}.yaml").write_text(
            f"name: {name}\ntask: Write is_palindrome(s).\n"
            "tests: [\"assert is_palindrome('aba') is True\"]\n"
            "hidden_tests: [\"assert is_palindrome('ab') is False\"]\n"
        )
    script(here, lead=["plan"] * 3, worker=[RIGHT] * 3, reviewer=["APPROVED"] * 3)
    code, out, _ = run("a.yaml", "b.yaml", "c.yaml", *ALL, "--jobs", "3")
    assert code == 0
    assert all(f"{name}-2" in out for name in "abc")


def test_what_cannot_be_judged_apart_is_refused_at_load(run, here):
    passing(here)
    (here / "m.yaml").write_text(
        "task: Write a class Money that equals the number of its cents.\n"
        "tests:\n  - assert Money(1).cents == 1\n  - |\n    m = Money(5)\n    assert m.cents == 5\n    assert m == 5\n"
    )
    code, out, err = run("m.yaml", *ALL)
    assert code == 2
    assert "m.yaml:7: cannot be judged with solution and asserts apart" in err
    assert "isolation: shared" in err
    assert "starts" not in out


def test_budget_and_time_limit_end_at_a_node(run, here):
    capped(here)
    code, out, _ = run(*ALL, "--budget", "5", "--thread", "b")
    assert (code, record(here, "b")["outcome"]) == (1, "budget")
    assert "pick it up with: --continue b" in out
    code, _, _ = run("--continue", "b", "--budget", "1000000", "--max-pauses", "0")
    assert (code, record(here, "b")["outcome"]) == (1, "capped")


def test_small_models_say_the_same_again_or_nothing_usable(run, here):
    again = WRONG[0].replace("return", "# now different\n    return")
    script(here, lead=["plan"], reviewer=["REJECTED"] * 8,
           worker=[WRONG[0], again, "I will fix it now.\n" * 265, "Which case do you mean?", WRONG[0]])  # fmt: skip
    code, out, err = run(*ALL, "--thread", "m", "--set", "rejection_cap=5", "--max-pauses", "0")
    got = record(here, "m")
    assert (code, got["outcome"], got["saved"]["checks"]) == (1, "capped", 2)
    assert out.count("check: not passed") == 1
    assert out.count("the same answer as in lap 1, not judged again") == 2
    assert out.count("the reply could not be used") == got["format_failures"] == 2
    assert "llowlist" not in err


# --- preflight (E6) -------------------------------------------------------------------------------


@pytest.fixture
def ollama():
    from tests.fakes.ollama_server import OllamaServer

    with OllamaServer() as server:
        yield server


def ollama_roles(server, **more):
    roles = {"lead": "ollama:here:7b", "worker": "ollama:here:7b", "reviewer": "ollama:here:7b"}
    sets = [f"models.{role}={name}" for role, name in {**roles, **more}.items()]
    return [f"--set={text}" for text in [*sets, f"base_urls.ollama={server.url}"]]


def test_a_missing_escalation_model_is_found_before_the_first_call(run, here, ollama):
    from tests.fakes.ollama_server import Kept

    ollama.models = {"here:7b": Kept()}
    code, _out, err = run(*ollama_roles(ollama, escalation="ollama:absent:70b"))
    assert code == 4
    assert "ollama pull absent:70b" in err
    assert not ollama.chats()
    assert not list((here / "runs").glob("*.json"))


def test_ollama_down_falls_back_with_one_line(run, here):
    passing(here)
    code, out, _ = run(
        "--set=base_urls.ollama=http://127.0.0.1:9", "--set=fallback=scripted:script.yaml"
    )
    assert code == 0
    assert out.count("Using scripted:script.yaml instead for lead, worker, reviewer") == 1
    (thread,) = (p.stem for p in (here / "runs").glob("palindrome-*.json"))
    prints = record(here, thread)["fingerprints"]["worker"]
    assert prints["name"] == "ollama:qwen2.5-coder:7b"
    assert prints["answered"] == "scripted:script.yaml"


def test_no_fallback_is_exit_four(run, here):
    code, _, err = run("--set=base_urls.ollama=http://127.0.0.1:9", "--set=fallback=null")
    assert code == 4
    assert "ollama serve" in err


def test_no_engine_is_exit_three_and_no_model_is_asked(run, here, ollama):
    code, _out, _err = run(*ollama_roles(ollama), env={"DOCKER_HOST": "unix:///nowhere.sock"})
    assert code == 3
    assert not ollama.chats()


# --- the owner, old runs --------------------------------------------------------------------------


def test_owner_words_on_the_command_line(run, here):
    capped(here)
    code, _, _ = run("--cap", *ALL, "--owner-reply", "ACCEPT!", "--thread", "a")
    assert (code, record(here, "a")["outcome"]) == (0, "accepted")
    code, _, _ = run("--cap", *ALL, "--thread", "p")
    assert (code, record(here, "p")["outcome"]) == (5, "paused")
    code, _, err = run("--continue", "p", "--owner-reply", " ")
    assert code == 2
    code, _, _ = run("--continue", "p", "--resume", "stop")
    assert (code, record(here, "p")["outcome"]) == (1, "stopped")
    code, _out, err = run("--continue", "p")
    assert code == 2
    assert "thread 'p' has ended (stopped): nothing to continue" in err


def test_another_model_may_go_on_with_a_run_and_nothing_else_changes(run, here):
    script(here, lead=["plan"], worker=[], reviewer=[])
    code, _, _ = run(*ALL, "--thread", "o")
    assert (code, record(here, "o")["outcome"]) == (4, "error")
    script(here, "other.yaml", worker=[RIGHT])
    script(here, "judge.yaml", reviewer=["APPROVED"])
    more = ["--continue", "o", "--model", "reviewer=scripted:judge.yaml"]
    for refused in ("rejection_cap=9", "runs_dirr=x", "sandbox=local"):
        code, _, err = run(*more, "--set", refused)
        assert code == 2, err
    code, _, _ = run(*more, "--model", "worker=scripted:other.yaml")
    assert code == 0
    assert record(here, "o")["fingerprints"]["worker"]["answered"] == "scripted:other.yaml"


def test_the_mailbox_answers_a_run_nobody_sits_at(run, here):
    from agent_loop.graph.drive import standing
    from agent_loop.store import RunStore

    capped(here)
    assert run("--cap", *ALL, "--thread", "m")[0] == 5
    assert run("--continue", "m", "--owner-reply", "\u202estop")[0] == 2
    store = RunStore(here / "runs")
    store.mailbox("m").put(standing(store, "m").nonce, "accept")
    assert run("--continue", "m")[0] == 0
    assert not store.mailbox("m").path.exists()


def test_replay_and_verify_and_show(run, here):
    script(here, lead=["plan"], worker=[WRONG[0], RIGHT], reviewer=["REJECTED", "APPROVED"])
    assert run(*ALL, "--thread", "r")[0] == 0
    assert run("--verify", "r")[0] == 0
    code, out, _ = run("--verify", "r", "--json")
    assert (code, json.loads(out)["passed"]) == (0, True)
    code, _, _ = run("--replay", "r", "--thread", "r2")
    assert code == 0
    first, second = record(here, "r"), record(here, "r2")
    for key in ("outcome", "answer", "laps", "verdict", "task_hash"):
        if key == "verdict":
            first[key]["seconds"] = second[key]["seconds"] = 0
        assert first[key] == second[key]
    code, out, _ = run("--show", "r")
    assert code == 0
    assert "worker: scripted:script.yaml" in out
    assert json.loads(run("--show", "r", "--json")[1])["thread"] == "r"
    assert [json.loads(line)["thread"] for line in run("--list", "--json")[1].splitlines()] == [
        "r2",
        "r",
    ]


def forged(here, run_id, **fields):
    path = here / "runs" / run_id / "certificate.json"
    certificate = json.loads(path.read_text())
    for key, value in fields.items():
        certificate[key] = value(certificate[key])
    path.write_text(json.dumps(certificate))


def test_a_forged_certificate_does_not_verify(run, here):
    passing(here)
    run(*ALL, "--thread", "f")
    true = (here / "runs" / "f" / "certificate.json").read_text()
    forged(here, "f", answer=lambda _: "def is_palindrome(s):\n    return True\n")
    code, out, _ = run("--verify", "f")
    assert code == 1
    assert "does NOT pass" in out
    assert "problem: the certificate's answer is not the one it was written for" in out
    (here / "runs" / "f" / "certificate.json").write_text(true)
    forged(here, "f", answer=lambda text: text + "# the same\n")
    code, out, _ = run("--verify", "f")
    assert code == 1
    assert "f: passes again" in out
    (here / "runs" / "f" / "certificate.json").write_text(true)
    forged(here, "f", task=lambda task: {**task, "tests": task["tests"][:1], "hidden_tests": []})
    code, out, _ = run("--verify", "f")
    assert code == 1
    assert "problem: the certificate's tests are not the ones it was written for" in out
    changes = {
        "thread": "of another run", "task_hash": "task_hash is not that of the run",
        "isolation": "says it was judged", "proofs": "proofs are not those it passes with",
    }  # fmt: skip
    for field, problem in changes.items():
        (here / "runs" / "f" / "certificate.json").write_text(true)
        forged(here, "f", **{field: lambda value: value[:-1] or "x"})
        code, out, _ = run("--verify", "f")
        assert code == 1, field
        assert problem in out
    (here / "runs" / "f" / "certificate.json").unlink()
    os.mkfifo(here / "runs" / "f" / "certificate.json")
    assert run("--verify", "f")[0] == 2


@pytest.mark.parametrize("argv", [["--show", "x"], ["--verify", "x"], ["--replay", "x"],
                                  ["--continue", "x"], ["--continue", "a/b"]])  # fmt: skip
def test_unknown_threads(run, here, argv):
    code, _, err = run(*argv)
    assert code == 2
    assert err.startswith("error: thread ")
    assert "Traceback" not in err
    assert not (here / "runs").exists() or not list((here / "runs").glob("x*"))


def test_a_thread_is_used_once(run, here):
    passing(here)
    assert run(*ALL, "--thread", "t")[0] == 0
    code, _, err = run(*ALL, "--thread", "t")
    assert code == 2
    assert "thread 't' is there already" in err


# --- two writers (F2), signals --------------------------------------------------------------------


def start(here, *arguments):
    argv = [sys.executable, str(ROOT / "loop.py"), *arguments]
    return subprocess.Popen(argv, cwd=here, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            stdin=subprocess.DEVNULL)  # fmt: skip


def seen(here, thread, kind, within_s=60, times=1):
    """Wait until the trace of a thread holds so many of such an event."""
    path = here / "runs" / thread / "trace.jsonl"
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        if path.exists() and path.read_text().count(f'"kind": "{kind}"') >= times:
            return
        time.sleep(0.05)
    pytest.fail(f"no {kind} in the trace of {thread}")


def slow(here):
    delayed = [{"text": text, "delay_s": 2} for text in (WRONG[0], RIGHT)]
    script(here, lead=["plan"], worker=delayed, reviewer=["REJECTED", "APPROVED"])


def test_the_same_thread_twice_is_refused(run, here):
    slow(here)
    first = start(here, *ALL, "--thread", "t")
    seen(here, "t", "model_asked")
    for argv in (["--continue", "t"], [*ALL, "--thread", "t"]):
        code, _, err = run(*argv)
        assert code == 2
        assert "thread 't' is" in err
    assert first.wait(60) == 0
    first.stdout.close()


def test_a_writer_that_holds_the_database_is_waited_for(run, here):
    passing(here)
    assert run(*ALL, "--thread", "a")[0] == 0
    holder = sqlite3.connect(here / "runs" / "checkpoints.sqlite", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    script(here, lead=["plan"], worker=[RIGHT], reviewer=["APPROVED"])
    waiting = start(here, *ALL, "--thread", "b")
    time.sleep(8)
    assert waiting.poll() is None
    holder.execute("COMMIT")
    holder.close()
    assert waiting.wait(60) == 0
    waiting.stdout.close()


def test_ctrl_c_drains_and_the_run_goes_on(run, here):
    slow(here)
    process = start(here, *ALL, "--thread", "c")
    seen(here, "c", "model_replied")
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130, out
    assert b"stopping after the step in hand" in out
    assert b"Traceback" not in out
    assert record(here, "c")["outcome"] == "cancelled"
    assert run("--continue", "c")[0] == 0
    assert len(record(here, "c")["laps"]) == 2


def test_a_second_ctrl_c_kills_and_the_run_goes_on(run, here):
    script(here, lead=["plan"], worker=[{"text": RIGHT, "delay_s": 600}], reviewer=["APPROVED"])
    process = start(here, *ALL, "--thread", "k")
    seen(here, "k", "model_asked", times=2)
    process.send_signal(signal.SIGINT)
    out = b""
    while b"stopping after the step in hand" not in out:  # two at once would be one
        line = process.stdout.readline()
        assert line, out
        out += line
    process.send_signal(signal.SIGINT)
    out += process.communicate(timeout=60)[0]
    assert process.returncode == 130, out
    passing(here)
    assert run("--continue", "k")[0] == 0


# --- a terminal -----------------------------------------------------------------------------------


class Terminal:
    """`loop.py` with somebody sitting before it."""

    def __init__(self, here, *arguments):
        import pty

        ours, theirs = pty.openpty()
        argv = [sys.executable, str(ROOT / "loop.py"), *arguments]
        env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "120", "LINES": "40"}
        self.process = subprocess.Popen(argv, cwd=here, env=env, stdin=theirs, stdout=theirs,
                                        stderr=theirs, start_new_session=True)  # fmt: skip
        os.close(theirs)
        self.ours, self.text = ours, ""

    def until(self, word, within_s=60):
        """Read until this was said."""
        end = time.monotonic() + within_s
        while word not in self.text:
            assert time.monotonic() < end, self.text
            self.read(0.2)

    def read(self, wait_s):
        ready, _, _ = select.select([self.ours], [], [], wait_s)
        if ready:
            try:
                self.text += os.read(self.ours, 1 << 16).decode("utf-8", "replace")
            except OSError:
                return False
        return True

    def end(self):
        while self.process.poll() is None:
            self.read(0.2)
        while self.read(0.2) and select.select([self.ours], [], [], 0.1)[0]:
            pass
        os.close(self.ours)
        return self.process.returncode


def test_a_person_at_the_terminal_sees_the_work_and_answers(here):
    script(here, lead=[{"text": "the plan", "delay_s": 1}],
           worker=[{"text": f"{WRONG[0]}{HOSTILE}", "delay_s": 1}], reviewer=["REJECTED"])  # fmt: skip
    terminal = Terminal(here, *ALL, "--set", "rejection_cap=1", "--thread", "t")
    terminal.until("▸ t · lap 1 · worker · scripted:script.yaml")
    terminal.until("Type 'stop', 'accept'")
    os.write(terminal.ours, b"\n")
    terminal.until("the answer is empty")
    os.write(terminal.ours, b"accept\n")
    assert terminal.end() == 0
    assert "t: accepted" in terminal.text
    assert "\x1b]0;owned" not in terminal.text
    assert "\x1b[2J" not in terminal.text
    assert "\u202e" not in terminal.text


def test_the_mailbox_answers_while_the_terminal_waits(here):
    from agent_loop.graph.drive import standing
    from agent_loop.store import RunStore

    capped(here)
    terminal = Terminal(here, *ALL, "--cap", "--set", "rejection_cap=1", "--thread", "t")
    terminal.until("Type 'stop', 'accept'")
    store = RunStore(here / "runs")
    store.mailbox("t").put(standing(store, "t").nonce, "stop")
    assert terminal.end() == 1
    assert "answered through the mailbox" in terminal.text


def test_ctrl_c_at_the_question_leaves_it_paused(here):
    capped(here)
    terminal = Terminal(here, *ALL, "--cap", "--set", "rejection_cap=1", "--thread", "t")
    terminal.until("Type 'stop', 'accept'")
    terminal.process.send_signal(signal.SIGINT)
    assert terminal.end() == 130
    assert record(here, "t")["outcome"] == "paused"


# --- the disk -------------------------------------------------------------------------------------


def test_a_full_or_read_only_place_is_one_clear_line(run, here):
    passing(here)
    (here / "file").write_text("")
    code, _, err = run(*ALL, "--set", "runs_dir=file/runs")
    assert code == 1
    assert err.startswith("error: ")
    assert "Traceback" not in err


def test_a_database_that_is_none(run, here):
    passing(here)
    (here / "runs").mkdir()
    (here / "runs" / "checkpoints.sqlite").write_text("this is no database\n" * 300)
    code, _, err = run(*ALL)
    assert code == 1
    assert "checkpoints.sqlite" in err
    assert "Traceback" not in err
