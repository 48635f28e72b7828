"""Library bugs and the demo project, mended by scripted episodes with both toolsets.

`python -m benchmarks.library_episodes DIR [--only toolz]` downloads the sources with pip, as
`benchmarks.library_bugs` does, and prints how each run ended. No model: what is shown is that
tools, container, patch and gate fit together on code that nobody wrote for them.
"""

import argparse
import json
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from benchmarks.library_bugs import BUGS, ROOT, Bug, source_of, whole_lines

WANTED = ("toolz", "inflection", "cachetools")
DEMO = ROOT / "tasks" / "fix_slugify.yaml"
DEMO_EDITS = (
    ("slugify/core.py", '_NOT_A_WORD = re.compile(r"[^a-z0-9-]")\n',
     '_NOT_A_WORD = re.compile(r"[^a-z0-9]+")\n'),
    ("slugify/core.py", "import re\n", "import re\nimport unicodedata\n"),
    ("slugify/core.py", "    text = text.lower().strip()\n",
     '    text = unicodedata.normalize("NFKD", text.lower()).encode("ascii", "ignore").decode()\n'),
)  # fmt: skip
Call = dict[str, object]
Edit = tuple[str, str, str]


def called(name: str, **arguments: str) -> Call:
    return {"tool_calls": [{"name": name, "arguments": arguments}]}


def structured(edits: Sequence[Edit]) -> list[Call]:
    """Look, change, test, submit: the first change misses, as first changes do."""
    path, old, _ = edits[0]
    return [
        called("search", pattern=r"def \w+", path=path),
        called("view", path=path),
        called("str_replace", path=path, old=old.rstrip("\n") + " # not there", new="x"),
        *(called("str_replace", path=p, old=o, new=n) for p, o, n in edits),
        called("run_tests"),
        called("submit"),
    ]


def bash(edits: Sequence[Edit]) -> list[Call]:
    """The same through one shell."""
    calls = [called("bash", command=f"ls; wc -l {shlex.quote(edits[0][0])}")]
    for path, old, new in edits:
        program = (
            f"p = {path!r}\ntext = open(p, encoding='utf-8').read()\n"
            f"assert text.count({old!r}) == 1\n"
            f"open(p, 'w', encoding='utf-8').write(text.replace({old!r}, {new!r}))\n"
        )
        calls.append(called("bash", command=f"python - <<'END'\n{program}END"))
    return [*calls, called("bash", command="python -m pytest -q 2>&1 | tail -3"),
            called("bash", command="submit")]  # fmt: skip


def run(
    name: str, task: Path, edits: Sequence[Edit], toolset: str, folder: Path
) -> Mapping[str, object]:
    """One run in tools mode."""
    worker = structured(edits) if toolset == "structured" else bash(edits)
    script, runs = folder / f"{name}.{toolset}.yaml", folder / "runs"
    script.write_text(
        yaml.safe_dump({"lead": ["Mend it."], "worker": worker, "reviewer": ["APPROVED"]})
    )
    thread = f"{name}-{toolset}"
    command = [sys.executable, str(ROOT / "loop.py"), str(task), "--quiet", "--thread", thread]
    command += ["--model", f"all=scripted:{script}", "--set", f"runs_dir={runs}"]
    command += ["--set", "worker_mode=tools", "--set", f"toolset={toolset}", "--max-pauses", "0"]
    # A script cannot sum up: the context has to hold all of it.
    command += ["--set", "rejection_cap=1", "--set", "model_options.default.num_ctx=65536"]
    command += ["--set", "check.project_s=900", "--set", "episode.call_s=900"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    trace = runs / thread / "trace.jsonl"
    if not trace.exists():
        return {"run": thread, "problem": (done.stdout + done.stderr)[-600:]}
    return {"run": thread, "exit": done.returncode, **outcome(trace)}


def outcome(trace: Path) -> Mapping[str, object]:
    """How the episode and its check went, from the trace."""
    found: dict[str, object] = {}
    steps: list[float] = []
    for line in trace.read_text(encoding="utf-8").split("\n"):
        event = json.loads(line) if line else {}
        match event.get("kind"):
            case "episode_step":
                steps.append(event["seconds"])
            case "episode_ended":
                found["episode"] = f"{event['reason']}, {event['steps']} steps"
            case "verdict":
                held = sum(proof["held"] for proof in event["proofs"])
                found["check"] = (
                    f"{'passed' if event['passed'] else event['reason']}, {held} proofs"
                )
            case "candidate_refused":
                found["check"] = f"refused: {event['problem']}"
            case "run_ended":
                found["outcome"] = event["outcome"]
    return {**found, "seconds_in_tools": round(sum(steps), 2)}


def library_task(bug: Bug, folder: Path) -> tuple[Path, Sequence[Edit]]:
    place = source_of(bug, folder)
    task = folder / f"{place.name}.task.yaml"
    fields = {"type": "project", "task": f"Mend {bug.path}.", "project": str(place),
              "test_command": f"pytest -q {bug.tests}", "requirements": list(bug.plugins),
              "pytest_plugins": [one.partition("==")[0] for one in bug.plugins]}  # fmt: skip
    task.write_text(yaml.safe_dump(fields))
    return task, [(bug.path, *whole_lines(bug, bug.right, place))]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    folder = given.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    jobs: list[tuple[str, Path, Sequence[Edit]]] = [("demo", DEMO, DEMO_EDITS)]
    bugs = [bug for bug in BUGS if bug.package.partition("==")[0] in WANTED]
    jobs += [(bug.package.partition("==")[0], *library_task(bug, folder)) for bug in bugs]
    ended = []
    for name, task, edits in jobs:
        for toolset in ("structured", "bash") if given.only in name else ():
            ended.append(run(name, task, edits, toolset, folder))
            print(json.dumps(ended[-1]), flush=True)
    return 0 if all(one.get("outcome") == "passed" for one in ended) else 1


if __name__ == "__main__":
    sys.exit(main())
