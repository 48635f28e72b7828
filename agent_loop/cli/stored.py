"""`--list`, `--show`, `--verify`: what can be said about runs of before."""

from dataclasses import asdict

from agent_loop.assemble import Workshop
from agent_loop.cli.tables import OUTPUT_LINES, run_table, token_table, trust, whole
from agent_loop.ports import OwnerReply
from agent_loop.store import RunStore, read_trace, reply_from_text
from agent_loop.terminal.safe import few_lines
from agent_loop.terminal.screen import Screen


def list_runs(store: RunStore, screen: Screen) -> int:
    """Every run, newest first."""
    runs = store.list()
    if screen.as_json:
        for run in runs:
            screen.machine(asdict(run))
    elif not runs:
        screen.result(f"no runs in {store.root}")
    else:
        screen.people.print(run_table(runs))
    return 0


def show_run(store: RunStore, thread: str, screen: Screen) -> int:
    """Everything about one run.

    Raises:
        ThreadError: unknown.
    """
    record = store.read_record(thread)
    if screen.as_json:
        screen.machine(record)
        return 0
    for line in whole(record):
        screen.result(line.text, line.style)
    if table := token_table(record):
        screen.people.print(table)
    driver = store.driver(thread)
    if driver:
        screen.result(f"driven now by {driver}", "yellow")
    return 0


def verify(workshop: Workshop, thread: str, screen: Screen) -> int:
    """Judge the stored answer again, with no model: 0 if it holds, else 1.

    Raises:
        ThreadError: unknown, or nothing to judge. FaultError: could not judge.
    """
    verified = workshop.verify(thread)
    verdict = verified.verdict
    fields = {"thread": thread, "holds": verified.holds, "certified": verified.certified,
              "problems": verified.problems, **asdict(verdict)}  # fmt: skip
    if screen.as_json:
        screen.machine(fields)
    for line in trust({"verdict": fields}):
        screen.say(line.text, line.style)
    if not verdict.passed:
        screen.say(few_lines(verdict.output or verdict.feedback, OUTPUT_LINES))
    for problem in verified.problems:
        screen.result(f"problem: {problem}", "red")
    kept = "its certificate" if verified.certified else "its record; it has no certificate"
    word = "passes again" if verdict.passed else "does NOT pass"
    style = "green" if verified.holds else "red"
    screen.result(f"{thread}: {word}, judged from {kept}", style)
    return 0 if verified.holds else 1


def recorded_answers(store: RunStore, thread: str) -> list[OwnerReply]:
    """What the owner said in a recorded run, in order, for its replay."""
    events = read_trace(store.trace_path(thread))
    said = [str(e.get("text") or "") for e in events if e.get("kind") == "owner_replied"]
    return [reply_from_text(text, "argument") for text in said if text]
