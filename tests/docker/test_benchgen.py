"""The generator in real containers: what screening says of every kind of odd bug, and a build."""

import json
import os
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_loop.assemble import Yard
from agent_loop.benchgen.accept import Court, Refused
from agent_loop.benchgen.bugs import Bug, Edit, combined
from agent_loop.benchgen.build import Build
from agent_loop.benchgen.ground import Given, Ground, prepare
from agent_loop.benchgen.main import main
from agent_loop.benchgen.model_bugs import targets
from agent_loop.benchgen.origins import library_of
from agent_loop.benchgen.sieve import Sieve
from agent_loop.benchgen.wording import Report
from agent_loop.config import load, state_dir
from agent_loop.errors import UserError

pytestmark = pytest.mark.docker

CORE = '''"""Counting things."""

import time
from typing import TYPE_CHECKING

from shapes.limits import MOST

if TYPE_CHECKING:
    WIDE = MOST > 3


def tagged(tag="plain"):
    def wrap(function):
        function.tag = tag
        return function

    return wrap


def count_up(limit):
    found = []
    number = 0
    while number < limit:
        found.append(number)
        number += 1
    return found


def greet(name="World"):
    return "Hello " + name


@tagged("soft")
def capped(number):
    if number > MOST:
        return MOST
    return number


def total(numbers):
    found = 0
    for number in numbers:
        found += number
    return found
'''
FILES = {
    "shapes/__init__.py": "",
    "shapes/limits.py": '"""Shared."""\n\nMOST = 5\n',
    "shapes/core.py": CORE,
    "shapes/box.py": "from dataclasses import dataclass\n\nfrom shapes.limits import MOST\n\n\n"
    "@dataclass\nclass Box:\n    size: int = 2\n\n    def room(self):\n"
    "        return MOST - self.size\n",
    "tests/test_core.py": "from shapes.core import capped, count_up, greet, total\n\n\n"
    "def test_count_up():\n    assert count_up(3) == [0, 1, 2]\n\n\n"
    "def test_greet():\n    assert greet() == 'Hello World'\n\n\n"
    "def test_capped():\n    assert capped(9) == 5\n\n\n"
    "def test_tag():\n    assert capped.tag == 'soft'\n\n\n"
    "def test_total():\n    assert total([1, 2]) == 3\n\n\n"
    "def test_total_of_none():\n    assert total([]) == 0\n\n\n",
    "tests/test_box.py": "import shapes.box\n\n\n"
    "def test_room():\n    assert shapes.box.Box().room() == 3\n\n\n"
    "def test_size():\n    assert shapes.box.Box(4).size == 4\n",
    "tests/test_more.py": "import pytest\nfrom shapes.core import total\n\n\n"
    "@pytest.mark.parametrize('n', range(12))\ndef test_more(n):\n    assert n + 1 > n\n",
    "pyproject.toml": "[project]\nname = 'shapes'\nversion = '1'\n",
}


@pytest.fixture(scope="module")
def yard(project_image: str) -> Iterator[Yard]:
    made = Yard(config=load(None, os.environ), notify=lambda _: None, env=os.environ)
    yield made
    made.close()


def lay(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return root


@pytest.fixture(scope="module")
def ground(yard: Yard, tmp_path_factory: pytest.TempPathFactory) -> Ground:
    work = tmp_path_factory.mktemp("ground")
    library = library_of(str(lay(work / "shapes", FILES)), work / "w", {})
    return prepare(library, Given(), yard, work / "w", lambda _: None)


@pytest.fixture(scope="module")
def sieve(ground: Ground, yard: Yard) -> Iterator[Sieve]:
    made = Sieve(ground, yard, 2, wait_s=4.0)
    made.learn()
    yield made
    made.close()


def bug(path: str, right: str, wrong: str, where: str = "function") -> Bug:
    at = FILES[path].encode().index(right.encode())
    edit = Edit(path=path, start=at, end=at + len(right), new=wrong.encode())
    return Bug(kind="by hand", edits=(edit,), functions=(f"{path}::x",), where=where)  # type: ignore[arg-type]


ENDLESS = bug("shapes/core.py", "number += 1", "number -= 1")
GREEDY = bug("shapes/core.py", "found.append(number)", "found.append(b'x' * (1 << 40))")
WAITING = bug("shapes/core.py", "found = 0", "found = __import__('threading').Event().wait() or 0")
READING = bug("shapes/core.py", "found = 0", "found = len(__import__('sys').stdin.read())")
SLOWER = bug("shapes/core.py", "found = 0", "found = sum(range(1_500_000)) * 0")
DEFAULT = bug("shapes/core.py", '"World"', '"Mars"', "import")
DECORATOR = bug("shapes/core.py", '"soft"', '"hard"', "import")
DATACLASS = bug("shapes/box.py", "size: int = 2", "size: int = 3", "import")
CONSTANT = bug("shapes/limits.py", "MOST = 5", "MOST = 6", "import")
TYPES = bug("shapes/core.py", "MOST > 3", "MOST < 3", "import")
BROKEN = bug("shapes/limits.py", "MOST = 5", "MOST = 5 / 0", "import")
EXITING = bug("shapes/core.py", "found = 0", "found = __import__('os')._exit(3)")


def test_what_screening_says_of_odd_bugs(ground: Ground, sieve: Sieve) -> None:
    fates = {
        "endless": ENDLESS,
        "greedy": GREEDY,
        "waiting": WAITING,
        "exiting": EXITING,
        "types": TYPES,
        "broken": BROKEN,
        "slower": SLOWER,
        "reading": READING,
    }
    found = dict(zip(fates, sieve.sift(list(fates.values())), strict=True))
    assert {name: one.fate for name, one in found.items()} == {
        "endless": "time",
        "greedy": "broken",
        "waiting": "time",
        "exiting": "broken",
        "types": "equivalent",
        "broken": "import",
        "slower": "equivalent",
        "reading": "equivalent",
    }
    assert sieve.restarts == 0
    assert len(ground.passing) == 20


def test_bugs_at_import_time_are_seen_by_every_importer(sieve: Sieve) -> None:
    default, decorator, dataclass, constant = sieve.sift([DEFAULT, DECORATOR, DATACLASS, CONSTANT])
    assert default.failing == ("tests/test_core.py::test_greet",)
    assert decorator.failing == ("tests/test_core.py::test_tag",)
    assert dataclass.failing == ("tests/test_box.py::test_room",)
    assert set(constant.failing) == {
        "tests/test_box.py::test_room",
        "tests/test_core.py::test_capped",
    }


@pytest.fixture
def court(ground: Ground, yard: Yard, tmp_path: Path) -> Court:
    return Court(ground=ground, yard=yard, work=tmp_path / "court", packages=("shapes",))


LATER = bug("shapes/core.py", "number = 0", "number = 1")
NEGATIVE = bug("shapes/core.py", "found += number", "found -= number")


def test_a_build_combines_bugs_each_of_which_has_to_be_mended(
    ground: Ground, sieve: Sieve, court: Court
) -> None:
    said: list[str] = []
    build = Build(ground=ground, sieve=sieve, court=court, count=1, seed=0, jobs=1, say=said.append)
    one = bug("shapes/core.py", "found = 0", "found = 1")
    (task,) = build.run(iter([one, DEFAULT, LATER, DATACLASS, DECORATOR, NEGATIVE]))
    assert task.bug.edits == (*LATER.edits, *NEGATIVE.edits)
    assert task.wanted == ("tests/test_core.py::test_count_up", "tests/test_core.py::test_total")
    assert task.certificate["partial_patches_refused"] == 2
    fates = {entry.bug.id: entry.fate for entry in build.journal.entries}
    assert fates == {task.bug.id: "accepted", LATER.id: "part", NEGATIVE.id: "part"}
    assert said == ["screened 6 more bugs: 5 to be judged", f"1 of 1: {task.report.title}"]


def test_a_combined_bug_with_a_site_that_does_not_matter_is_refused(
    sieve: Sieve, court: Court
) -> None:
    idle = bug("shapes/core.py", "found += number", "found += number + 0")
    both = combined([LATER, idle])
    assert both is not None
    (found,) = sieve.explain(sieve.sift([both]))
    report = court.report(found)
    assert isinstance(report, Report)
    verdict = court.hear(found, report)
    assert isinstance(verdict, Refused)
    assert (verdict.fate, verdict.detail) == ("not needed", "passes with one site left")


def test_a_build_gives_tasks_and_the_same_ones_again(
    tmp_path: Path, project_image: str, capsys: pytest.CaptureFixture[str]
) -> None:
    source = str(lay(tmp_path / "shapes", FILES))
    trees = []
    for name in ("one", "two"):
        words = ["build", source, "--out", str(tmp_path / name), "--count", "1", "--seed", "3"]
        assert main(words, os.environ) == 0, capsys.readouterr()
        trees.append({
            path.relative_to(tmp_path / name).as_posix(): path.read_bytes()
            for path in sorted((tmp_path / name).rglob("*"))
            if path.is_file()
        })  # fmt: skip
    assert trees[0] == trees[1]
    manifest = json.loads(trees[0]["benchmark.json"])
    names = [one["name"] for one in manifest["tasks"]]
    assert names == ["shapes-001"]
    for one in names:
        assert f"{one}.yaml" in trees[0]
        assert not any("gold" in path for path in trees[0] if path.startswith(f"projects/{one}"))
        proofs = json.loads(trees[0][f"certificates/{one}.json"])["proofs"]
        assert len(proofs) >= 7
        assert all(proof["held"] for proof in proofs)
    rows = [json.loads(line) for line in trees[0]["swebench.jsonl"].splitlines()]
    assert [row["instance_id"] for row in rows] == names
    assert not list(state_dir().glob("benchgen-*/right"))
    assert main(["verify", str(tmp_path / "one"), "--runs", "1"], os.environ) == 0
    said = capsys.readouterr().out
    assert "gold passes 1 of 1, buggy tree passes 0 of 1, flaky 0; 9 proofs" in said


def test_a_library_of_another_python_is_refused_with_both_versions(
    yard: Yard, tmp_path: Path
) -> None:
    files = {**FILES, "pyproject.toml": "[project]\nname='s'\nrequires-python = '<3.7'\n"}
    library = library_of(str(lay(tmp_path / "shapes", files)), tmp_path / "w", {})
    with pytest.raises(UserError, match=r"runs on Python <3.7; the image has 3\."):
        prepare(library, Given(), yard, tmp_path / "w", lambda _: None)


def git(root: Path, *words: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=n", "-c", "user.email=e", *words], cwd=root, check=True,
        capture_output=True,
    )  # fmt: skip


SOMETIMES = """
SEEN = []


def test_before():
    SEEN.append(1)
    assert greet(3).startswith('H')


def test_only_after_the_other():
    assert SEEN and greet(3) == 'Hello 3'
"""


def test_history_keeps_the_mended_bug_and_quarantines_the_others(
    tmp_path: Path, project_image: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its tests fail with the fix, pass without it, or pass only after another one."""
    root = lay(tmp_path / "shapes", {**FILES, "docs/conf.py": "version = 0\n"})
    core, tests = root / "shapes/core.py", root / "tests/test_core.py"
    git(root, "init", "-q")

    def commit(source: tuple[str, str], test: str) -> str:
        core.write_text(core.read_text().replace(*source))
        tests.write_text(tests.read_text() + test)
        (root / "docs/conf.py").write_text(f"version = {test!r}\n")
        git(root, "add", "-A")
        git(root, "commit", "-qm", "x")
        said = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=True
        )
        return said.stdout[:10]

    commit(("", ""), "")
    commits = {
        "passes without it, or fails with it": commit(
            ("return MOST\n", "return MOST + 0\n"),
            "def test_same():\n    assert capped(8) == 5\n\n\n"
            "def test_wrong():\n    assert capped(8) == 6\n",
        ),
        "sometimes": commit(('"Hello " + name', '"Hello " + str(name)'), SOMETIMES),
        "mended": commit(
            ("found += number", "found += abs(number)"),
            "def test_abs():\n    assert total([-1]) == 1\n",
        ),
    }
    words = ["build", str(root), "--strategy", "history", "--out", str(tmp_path / "out")]
    assert main([*words, "--count", "9", "--jobs", "1"], os.environ) == 1, capsys.readouterr()
    entries = json.loads((tmp_path / "out/build-log.json").read_text())["entries"]
    fates = {one["detail"][:10]: one["fate"] for one in entries}
    assert {kind: fates[name] for kind, name in commits.items()} == {
        "passes without it, or fails with it": "equivalent",
        "sometimes": "gate",
        "mended": "accepted",
    }, entries
    (task,) = json.loads((tmp_path / "out/benchmark.json").read_text())["tasks"]
    assert (task["kind"], task["functions"]) == ("history", ["shapes/core.py::total"])
    text = (tmp_path / "out/shapes-001.yaml").read_text()
    assert "`total`" in text
    assert "abs" not in text.replace("test_abs", "")
    assert b"docs/conf.py" not in (tmp_path / "out/gold/shapes-001.patch").read_bytes()


SUMS = """def grown(number):
    if number > 2:
        return number + 1
    return number


def halved(number):
    if number > 2:
        return number // 2
    return number


def doubled(number):
    if number > 2:
        return number * 2
    return number


def squared(number):
    if number > 2:
        return number * number
    return number


def negated(number):
    if number > 2:
        return -number
    return number


def wrapped(number):
    if number > 2:
        return [number]
    return number


def triple(number):
    if number > 2:
        return number * 3
    return number
"""
ASKED = {"grown": "4", "halved": "1", "doubled": "6", "squared": "9", "negated": "-3",
         "wrapped": "[3]", "triple": "9"}  # fmt: skip


def rewritten(name: str, old: str, new: str) -> str:
    """A model's answer: one function of `SUMS`, changed."""
    start = SUMS.index(f"def {name}(")
    text = SUMS[start : (SUMS + "\n\n\n").index("\n\n\n", start)]
    return f"Here it is:\n\n```python\n{text.replace(old, new)}\n```\n"


REPLIES: dict[str, dict[str, str]] = {
    "grown": {"text": rewritten("grown", "number + 1", "number + 2")},
    "halved": {"text": rewritten("halved", "", "")},
    "doubled": {"text": "I would rather talk about something else: def doubled("},
    "squared": {"text": rewritten("negated", "-number", "number")},
    "negated": {"text": rewritten("negated", "-number", "number"), "finish": "length"},
    "wrapped": {
        "text": rewritten("wrapped", "return [number]", "raise ValueError('see sums/ops.py')")
    },
    "triple": {"text": rewritten("triple", "number * 3", "number * 3 + 0")},
}


def test_bugs_of_a_model_go_through_the_same_validation(
    tmp_path: Path, project_image: str, capsys: pytest.CaptureFixture[str]
) -> None:
    tests = "from sums.ops import *\nimport sums.ops\n\n\n"
    for name, value in ASKED.items():
        tests += f"def test_{name}():\n    assert sums.ops.{name}(3) == {value}\n\n\n"
    files = {"sums/__init__.py": "", "sums/ops.py": SUMS, "tests/test_ops.py": tests}
    root = lay(tmp_path / "sums", {**files, "pyproject.toml": FILES["pyproject.toml"]})
    script = tmp_path / "replies.yaml"
    script.write_text(json.dumps({"worker": [REPLIES[name] for name in asked_in_order(seed=2)]}))
    words = ["build", str(root), "--strategy", "model", "--model", f"scripted:{script}"]
    words += ["--out", str(tmp_path / "out"), "--count", "2", "--seed", "2", "--jobs", "1"]
    assert main(words, os.environ) == 1
    said = capsys.readouterr().out
    assert "negated: the answer was cut" in said
    assert "halved: nothing changed" in said
    assert "doubled: " in said
    assert "squared: another name or other parameters" in said
    entries = json.loads((tmp_path / "out/build-log.json").read_text())["entries"]
    assert {one["functions"][0].rpartition(":")[2]: one["fate"] for one in entries} == {
        "grown": "accepted",
        "wrapped": "leak",
        "triple": "equivalent",
    }
    (task,) = json.loads((tmp_path / "out/benchmark.json").read_text())["tasks"]
    assert (task["kind"], task["fail_to_pass"]) == ("model", 1)
    assert "`grown` gives `5` instead of `4`" in (tmp_path / "out/sums-001.yaml").read_text()


def asked_in_order(seed: int) -> list[str]:
    """The functions that a model is asked about, first to last."""
    names = [one.name for one in targets("sums/ops.py", SUMS.encode())]
    random.Random(f"model:{seed}").shuffle(names)
    return names
