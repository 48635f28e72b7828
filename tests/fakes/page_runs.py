"""A `runs/` folder for the page: real runs of scripted parts, and what cannot be had that fast."""

import json
import threading
from dataclasses import replace

from agent_loop.graph.drive import start
from agent_loop.models.scripted import Line, ScriptedModel
from agent_loop.ports import SystemClock
from agent_loop.store import RunStore, Summary
from agent_loop.store.report import Attempt, Identity, Plan, Report, Tokens
from agent_loop.store.reports import report_path, write_report
from tests.fakes.check import ScriptedCheck
from tests.fakes.runs import RIGHT, ScriptedOwner, job, parts, wrong

PATCH = """\
diff --git a/calc/add.py b/calc/add.py
--- a/calc/add.py
+++ b/calc/add.py
@@ -1,3 +1,5 @@
 def add(a, b):
-    return a - b
+    # The sign was wrong.
+    total = a + b
+    return total
 # the end
diff --git a/calc/new.py b/calc/new.py
new file mode 100644
--- /dev/null
+++ b/calc/new.py
@@ -0,0 +1,2 @@
+def twice(a):
+    return 2 * a
"""
USAGE = {
    "calls": 1, "unmeasured_calls": 0, "input_tokens": 900, "output_tokens": 120, "retries": 0,
    "reused_tokens": 600, "load_s": 0.0, "seconds": 4.0,
}  # fmt: skip


def summary(thread, **more):
    fields = {
        "thread": thread, "kind": "code", "task": "demo", "outcome": "passed", "laps": 1,
        "started": "2026-11-01T10:00:00.000Z", "ended": "2026-11-01T10:01:00.000Z", "look": False,
        "input_tokens": 1200, "output_tokens": 240, "seconds": 60.0,
    }  # fmt: skip
    return Summary(**{**fields, **more})


def record(store, thread, *, fields=None, **more):
    """A record as `store` writes it, with little inside."""
    head = summary(thread, **more)
    verdict = {
        "passed": head.outcome == "passed", "isolation": "separate",
        "reason": "4 of 4 asserts held",
        "feedback": "", "output": "All 4 asserts held.", "executed": ["test 1", "test 2"],
        "proofs": [{"name": "every assert ran", "held": True, "detail": "4 of 4"}],
        "looks": [], "lines": [], "seconds": 0.2,
    }  # fmt: skip
    base = {
        "thread": thread, "kind": head.kind, "task": head.task, "outcome": head.outcome,
        "reason": "4 of 4 asserts held", "look": head.look, "verdict": verdict, "laps": [],
        "answer": "def f():\n    return 1\n", "review": "APPROVED", "plan": "1. write it",
        "test_output": "All 4 asserts held.", "tokens": {"worker": USAGE}, "spent_s": 60.0,
    }  # fmt: skip
    store.folder(thread).mkdir(parents=True, exist_ok=True)
    store.write_record(thread, {**base, **(fields or {})}, head)


def trace(store, thread, events):
    """Its trace; each event is `(kind, fields)`."""
    writer = store.trace(thread, SystemClock())
    for kind, fields in events:
        writer.emit(kind, fields)


def ask(node, text, *, lap=1, answer="done", **more):
    """The two events of one model call."""
    head = {"node": node, "role": node, "lap": lap}
    messages = [{"role": "system", "content": "You help."}, {"role": "user", "content": text}]
    replied = {
        "answered": "scripted:w", "text": answer, "reasoning": "", "finish": "stop",
        "usage": USAGE, "notes": [], "context_cut": False,
    }  # fmt: skip
    return [
        ("model_asked", {**head, "model": "scripted:w", "messages": messages}),
        ("model_replied", {**head, **replied, **more}),
    ]


def passed(store, thread="demo-passed"):
    """A real run: one wrong lap, one right one."""
    lines = [Line(text=wrong(1), reasoning="Try one."), Line(text=RIGHT, delay_s=0.1)]
    given = parts(lines, ["REJECTED: it says 1", "APPROVED: right"])
    return start(thread, job(), given, store)


def paused(store, thread="demo-paused", *, feedback=""):
    """A real run that waits for its owner, and nobody drives it."""
    given = parts(
        [wrong(n) for n in range(3)], "REJECTED: no", check=ScriptedCheck(feedback=feedback)
    )
    return start(thread, job(), given, store)


class UntilTold(SystemClock):
    """Sleeps as long as it should, but no longer than until it is told to go on."""

    def __init__(self):
        self.go_on = threading.Event()

    def sleep(self, seconds):
        self.go_on.wait(seconds)


def live(store, thread, owner=None, *, delay_s=0.3, lines=None, control=None, lead=None):
    """Drive a slow run to its end; call it in a thread of its own. `lead` is its model."""
    texts = lines or [wrong(1), RIGHT]
    slow = [Line(text=text, delay_s=delay_s) for text in texts]
    given = parts(slow, "REJECTED: no" if owner else "APPROVED", owner=owner or ScriptedOwner())
    lead = lead or ScriptedModel("scripted:lead", [Line(text="1. write it", delay_s=delay_s)])
    given = replace(given, models={**given.models, "lead": lead})
    return start(thread, job(), given, store, control=control)


def project(store, thread="calc-project"):
    """A project run that passed, its patch and the lines that ran."""
    lines = [{"path": "calc/add.py", "ran": [3, 4]}]
    looks = [{"signal": "no hidden tests", "detail": "hard-coded inputs would not be seen"}]
    names = ["fails before", "changed lines ran", "twins fail", "passes alone"]
    verdict = {
        "passed": True, "isolation": "pytest", "reason": "9 proofs hold", "feedback": "",
        "output": "12 passed", "executed": ["tests/test_add.py::test_add"], "looks": looks,
        "proofs": [{"name": name, "held": True, "detail": "1"} for name in names],
        "lines": lines, "seconds": 3.1,
    }  # fmt: skip
    fields = {"verdict": verdict, "answer": PATCH, "test_output": "12 passed"}
    record(store, thread, kind="project", task="calc", look=True, fields=fields)
    (store.folder(thread) / "changes.patch").write_text(PATCH)
    events = [("run_started", {"task": "calc", "task_kind": "project", "resumed": False})]
    events += [("node_started", {"node": "worker", "lap": 1, "again": False})]
    events += ask("lead", "Mend add().", lap=0) + ask("worker", "Mend add().", answer=PATCH)
    events += [("verdict", {"lap": 1, **verdict}), *ask("reviewer", PATCH, answer="APPROVED")]
    events += [("run_ended", {"outcome": "passed", "reason": "9 proofs hold"})]
    trace(store, thread, events)


def episode(store, thread="tools-episode", *, steps=6):
    """A run of the worker with tools."""
    record(store, thread, kind="project", task="tools")
    events = [("run_started", {"task": "tools", "task_kind": "project", "resumed": False})]
    events += [("episode_started", {"node": "worker", "lap": 1, "protocol": "native", "tools": []})]
    for step in range(1, steps + 1):
        events += ask("worker", f"step {step}", answer="I look.")
        tail = " " + "y" * 30_000 + " the very end" if step == steps else ""
        seen = {"text": f"$ ls\nfile{step}.py", "ok": step != 3, "cut": False, "submitted": False}
        call = {"id": f"c{step}", "name": "bash", "arguments": {"command": f"ls -la {step}{tail}"}}
        fields = {"step": step, "seconds": 0.4, "call": call, "observation": seen}
        events += [("episode_step", {"node": "worker", "lap": 1, **fields})]
    ended = {"reason": "submitted", "steps": steps, "seconds": 9.0, "usage": USAGE}
    events += [("episode_ended", {"node": "worker", "lap": 1, **ended})]
    events += [("run_ended", {"outcome": "passed", "reason": "9 proofs hold"})]
    trace(store, thread, events)


def report(store, label, created, passes, *, tasks=("csvrow", "intervals", "slugify"), model="a"):
    """An eval report: `passes[task]` is a row of 0, 1 or None (the environment failed)."""
    rows = []
    for task in tasks:
        for n, one in enumerate(passes[task], start=1):
            thread = f"{label}-{task}-{n}"
            rows.append(_attempt(thread, task, n, one))
    plan = Plan(tasks=tuple(tasks), attempts=max(len(passes[task]) for task in tasks))
    identity = Identity(
        fixtures={task: "f" * 64 for task in tasks},
        models={"worker": {"name": f"scripted:{model}", "answered": f"scripted:{model}"}},
        config_hash="c" * 64, config={}, harness={"version": "1"},
    )  # fmt: skip
    made = Report(
        label=label, created=created, updated=created, plan=plan, identity=identity,
        attempts=tuple(rows), finished=True,
    )  # fmt: skip
    path = report_path(store.root, label, created)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_report(path, made)
    return path.stem


def _attempt(thread, task, n, one):
    status = "environment" if one is None else "finished"
    return Attempt(
        task=task, n=n, thread=thread, status=status, outcome="passed" if one else "capped",
        passed=None if one is None else bool(one), laps=2, seconds=12.5 + n,
        tokens=Tokens(input=900, output=120 + n), problem="" if one is not None else "no engine",
        record=f"{thread}.json",
    )  # fmt: skip


def evals(store):
    """Three reports of the same tasks, and one attempt's run."""
    base = {"csvrow": [1, 0, 0], "intervals": [0, 0, 1], "slugify": [1, 1, None]}
    better = {"csvrow": [1, 1, 1], "intervals": [1, 0, 1], "slugify": [1, 1, 1]}
    names = [
        report(store, "baseline", "2026-11-01T09:00:00.000Z", base),
        report(store, "shorter-prompts", "2026-11-02T09:00:00.000Z", better),
        report(store, "other-model", "2026-11-03T09:00:00.000Z", base, model="b"),
    ]
    record(store, "baseline-csvrow-1", task="csvrow")
    return names


def filled(root):
    """Everything above in one folder."""
    store = RunStore(root)
    passed(store)
    paused(store)
    project(store)
    episode(store)
    evals(store)
    for at, outcome in enumerate(["capped", "stopped", "budget", "error", "nothing_to_fix"]):
        record(
            store, f"old-{outcome}", outcome=outcome, task=f"task number {at}",
            started=f"2026-10-0{at + 1}T10:00:00.000Z",
        )  # fmt: skip
    return store


def raw_line(path, raw: bytes):
    """Append bytes to a trace as something else than this program would."""
    with path.open("ab") as file:
        file.write(raw + b"\n")


def raw_event(path, n, kind, **fields):
    line = {"v": 1, "n": n, "at": "2026-11-01T10:00:00.000Z", "thread": path.parent.name}
    raw_line(path, json.dumps({**line, "kind": kind, **fields}, ensure_ascii=False).encode())
