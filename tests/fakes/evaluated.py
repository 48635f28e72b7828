"""An eval of small scripted tasks in plain processes, in this process or one that is killed.

`python -m tests.fakes.evaluated ROOT` runs one; `python -m tests.fakes.evaluated --kills 20` kills
as many at random moments and compares every continued report with one that was not.
"""

import contextlib
import io
import json
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import yaml

from agent_loop.assemble.stopping import Stopper
from agent_loop.config import Config
from agent_loop.evals.main import study_of
from agent_loop.evals.options import Options, options_of, parser
from agent_loop.evals.session import Session
from agent_loop.store.reports import find_report, read_report
from agent_loop.terminal.screen import Screen

NAMES = ("a", "b", "c", "d")
TIMES = frozenset({"seconds", "load_s", "created", "updated", "thread", "record", "trace"})


def answer(name, number):
    return f"```python\ndef {name}():\n    return {number}\n```"


def make_suite(root, *, names=NAMES, laps=0, delay_s=0.0, never=()):
    """Tasks whose script is wrong `laps` times and then right; those in `never` stay wrong."""
    folder, scripts = Path(root) / "tasks", Path(root) / "scripts"
    (folder / "references").mkdir(parents=True, exist_ok=True)
    scripts.mkdir(exist_ok=True)
    for name in names:
        task = {"task": f"Write {name}() that returns 1.", "tests": [f"assert {name}() == 1"]}
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(task))
        (folder / "references" / f"{name}.md").write_text(answer(name, 1))
        wrong = [answer(name, n + 2) for n in range(20 if name in never else laps)]
        lines = {
            "lead": ["1. Return one."],
            "worker": [*wrong, answer(name, 1)],
            "reviewer": ["APPROVED"] * 30,
        }
        timed = {role: [{"text": t, "delay_s": delay_s} for t in ts] for role, ts in lines.items()}
        (scripts / f"{name}.yaml").write_text(yaml.safe_dump(timed))
    return folder


def settings(root, **changes):
    script = f"scripted:{Path(root) / 'scripts'}/{{task}}.yaml"
    made = Config(
        models=dict.fromkeys(("lead", "worker", "reviewer"), script),
        fallback=None,
        sandbox="local",
        runs_dir=Path(root) / "runs",
    )
    return made.model_copy(update=changes).with_secrets({}, allow_local=True)


def options(root, *words) -> Options:
    given = ["--suite", str(Path(root) / "tasks"), "--label", "x", "--no-page", *words]
    return options_of(parser().parse_args(given))


def evaluate(root, *words, config=None, stopper=None):
    """One command; (exit code, what it said)."""
    chosen = options(root, *words)
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        screen = Screen(as_json=chosen.json, quiet=chosen.quiet)
        made = config or settings(root)
        session = Session(
            options=chosen,
            config=made,
            env={},
            screen=screen,
            stopper=stopper or Stopper(lambda line: screen.result(line)),
            study=study_of(chosen, made.runs_dir, None),
        )
        code = session.run()
    return code, said.getvalue()


def report_of(root, label="x"):
    return read_report(find_report(Path(root) / "runs", label))


def bare(value):
    """A report without times and the names that hold one."""
    if isinstance(value, dict):
        return {key: bare(inner) for key, inner in value.items() if key not in TIMES}
    return [bare(inner) for inner in value] if isinstance(value, list) else value


def bare_report(root, label="x"):
    return bare(json.loads(find_report(Path(root) / "runs", label).read_bytes()))


def keys_of(report):
    return [(row.task, row.n) for row in report.attempts]


def child(root, words):
    evaluate(root, *words)


def dies_writing(root, words, nth):
    """Killed while the report is written the nth time: its new bytes are not yet in their place."""
    left, real = [nth], os.replace

    def replace_or_die(source, target, **more):
        if Path(target).parent.name == "evals" and str(target).endswith(".json"):
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return real(source, target, **more)

    os.replace = replace_or_die
    evaluate(root, *words)


def context():
    made = multiprocessing.get_context("forkserver")
    made.set_forkserver_preload(["tests.fakes.evaluated"])
    return made


def kill_until(root, kills, *, rng, names="abcdef", attempts=3):
    """How often a running eval was killed, and how many continued reports differ."""
    root, words = Path(root), ("--attempts", str(attempts), "--controls", "0")
    whole = root / "whole"
    make_suite(whole, laps=1, delay_s=0.02, names=names)
    began = time.monotonic()
    assert evaluate(whole, *words)[0] == 0
    longest_s = time.monotonic() - began
    expected, found = bare_report(whole), {"kills": 0, "different": 0, "reports": 0, "moments": []}
    while found["kills"] < kills:
        here = root / f"r{found['reports']}"
        make_suite(here, laps=1, delay_s=0.02, names=names)
        found["reports"] += 1
        for _ in range(min(4, kills - found["kills"])):
            process = context().Process(target=child, args=(str(here), words))
            process.start()
            process.join(rng.uniform(0.2, longest_s))
            found["kills"] += process.is_alive()
            process.kill()
            process.join()
            process.close()
            rows = list((here / "runs" / "evals").glob("*.json"))
            found["moments"].append(len(read_report(rows[0]).attempts) if rows else 0)
        code, _ = evaluate(here, *words)
        same = json.dumps(_without_paths(bare_report(here))) == json.dumps(_without_paths(expected))
        found["different"] += code != 0 or not same
    return found


def _without_paths(report):
    """The suites lie in different folders."""
    text = json.dumps(report)
    for folder in {report["plan"]["suite"].rpartition("/")[0]}:
        text = text.replace(folder, "ROOT")
    fields = json.loads(text)
    fields["identity"].pop("config_hash")
    return fields


def with_status(root, status, task, n):
    """Change one row on the disk, as a crash or an older program might have left it."""
    from agent_loop.store.reports import with_attempt, write_report

    path = find_report(Path(root) / "runs", "x")
    report = read_report(path)
    row = next(row for row in report.attempts if (row.task, row.n) == (task, n))
    write_report(path, with_attempt(report, replace(row, status=status, passed=None)))


if __name__ == "__main__":
    if sys.argv[1] == "--kills":
        with tempfile.TemporaryDirectory() as name:
            print(json.dumps(kill_until(name, int(sys.argv[2]), rng=random.Random())))
    else:
        print(evaluate(sys.argv[1], *sys.argv[2:])[1])
