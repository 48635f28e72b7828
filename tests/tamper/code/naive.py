"""Ways to judge that trust the process they judge: what each trick is shown to fool.

Every script runs in a container, never on the machine of whoever runs the tests.
"""

from dataclasses import dataclass

MARK = "@MARK@"
"""Replaced by a string drawn for each run."""
_TWO_PROCESSES = """
import json, os, pickle, subprocess, sys
child = subprocess.Popen([sys.executable, "-I", "/tmp/child.py"], stdin=-1, stdout=-1)
def ask(name, *args):
    child.stdin.write((json.dumps([name, args]) + "\\n").encode()); child.stdin.flush()
    return READ
"""
_CHILD = """
import json, pickle, sys
sys.path.insert(0, "/tmp")
import solution
for line in sys.stdin:
    name, args = json.loads(line)
    value = getattr(solution, name)(*args)
    WRITE
    sys.stdout.flush()
"""
_READS = {
    "pickled": ("pickle.load(child.stdout)", "sys.stdout.buffer.write(pickle.dumps(value))"),
    "evaluated": ("eval(child.stdout.readline())", "print(repr(value))"),
    "same_user": ("json.loads(child.stdout.readline())", "print(json.dumps(value))"),
}


@dataclass(frozen=True, kw_only=True)
class Run:
    """Files for /tmp of a container, and the one to start."""

    files: dict[str, str]
    start: str = "run.py"


@dataclass(frozen=True, kw_only=True)
class Said:
    """How it ended."""

    code: int | None
    out: str


def _file(solution: str, tests: list[str], names: list[str]) -> Run:
    return Run(files={"run.py": "\n".join((solution, *tests))})


def _marked(solution: str, tests: list[str], names: list[str]) -> Run:
    return Run(files={"run.py": "\n".join((solution, *tests, f"print({MARK!r})"))})


def _unittest(solution: str, tests: list[str], names: list[str]) -> Run:
    body = "\n".join(f"        {line}" for test in tests for line in test.split("\n"))
    case = f"import unittest\nclass T(unittest.TestCase):\n    def test_all(self):\n{body}\n"
    return Run(
        files={"run.py": f"{solution}\n{case}\nif __name__ == '__main__':\n    unittest.main()"}
    )


def _report(solution: str, tests: list[str], names: list[str]) -> Run:
    run = (
        "import json, sys\nsys.path.insert(0, '/tmp')\nimport solution\n"
        f"names = dict(vars(solution)); failed = 0\nfor test in {tests!r}:\n"
        "    try: exec(test, names)\n    except BaseException: failed += 1\n"
        "json.dump({'failed': failed}, open('/tmp/report.json', 'w'))\n"
    )
    show = "import subprocess, sys\nsubprocess.run([sys.executable, '-I', '/tmp/run.py'])\n"
    show += "print(open('/tmp/report.json').read())"
    return Run(files={"solution.py": solution, "run.py": run, "show.py": show}, start="show.py")


def _split(kind: str, solution: str, tests: list[str], names: list[str]) -> Run:
    read, write = _READS[kind]
    parent = _TWO_PROCESSES.replace("READ", read)
    parent += "".join(f"{name} = lambda *a: ask({name!r}, *a)\n" for name in names)
    parent += "\n".join((*tests, "print('PASS', flush=True)"))
    return Run(
        files={
            "run.py": parent,
            "child.py": _CHILD.replace("WRITE", write),
            "solution.py": solution,
        }
    )


def script(command: str, solution: str, tests: list[str], names: list[str]) -> Run:
    """The naive command as files."""
    makers = {"exit": _file, "mark": _marked, "unittest": _unittest, "report": _report}
    if command in makers:
        return makers[command](solution, tests, names)
    return _split(command, solution, tests, names)


def believes(command: str, said: Said, mark: str) -> bool:
    """Whether the naive command calls this a pass."""
    if command == "mark":
        return said.code == 0 and said.out.rstrip().endswith(mark)
    if command == "report":
        return said.out.strip() == '{"failed": 0}'
    if command in _READS:
        return "PASS" in said.out
    return said.code == 0


INSIDE = """
import json, os, subprocess, sys
def main():
    job = json.loads(sys.stdin.buffer.readline())
    for name, text in job["files"].items():
        with open("/tmp/" + name, "w") as file: file.write(text)
    try:
        done = subprocess.run([sys.executable, "-I", "/tmp/" + job["start"]], timeout=8, cwd="/tmp",
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        code, out = done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        code, out = None, b""
    text = out[-4000:].decode("utf-8", "replace")
    sys.stdout.buffer.write(json.dumps({"code": code, "out": text}).encode())
"""
