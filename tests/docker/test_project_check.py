"""Project tasks as the loop meets them: the red run, replies, verdicts."""

import textwrap
from pathlib import Path

import pytest

from agent_loop.checks.project import Place, ProjectCheck
from agent_loop.config import CheckSettings
from agent_loop.errors import ReplyError, TaskFileError
from agent_loop.ports import Candidate, Limits, Reply, SystemClock, Usage
from agent_loop.sandbox import PROJECT_PYTHON
from agent_loop.tasks import ProjectTask
from tests.conftest import open_docker_sandbox

pytestmark = [pytest.mark.docker, pytest.mark.slow]
ADD = {
    "calc.py": "def add(a, b):\n    return a - b\n",
    "tests/test_calc.py": "from calc import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n",
}
GOOD = "calc.py\n<<<<<<< SEARCH\n    return a - b\n=======\n    return a + b\n>>>>>>> REPLACE\n"


@pytest.fixture(scope="module")
def sandbox(base_image):
    made = open_docker_sandbox(base_image)
    yield made
    made.close()


@pytest.fixture
def check_of(tmp_path, sandbox, project_image):
    made = []

    def make(files, *, folder="run", project_s=180.0, **task):
        root = tmp_path / "project"
        for name, text in files.items():
            place = root / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(textwrap.dedent(text))
        root.mkdir(exist_ok=True)
        check = ProjectCheck(
            ProjectTask(**{"name": "t", "task": "Mend it.", "project": root, **task}),
            place=Place(
                folder=tmp_path / folder,
                image=lambda: project_image,
                python=PROJECT_PYTHON,
                limits=Limits(),
            ),
            sandbox=sandbox,
            settings=CheckSettings(project_s=project_s),
            clock=SystemClock(),
        )
        made.append(check)
        return check

    yield make
    for check in made:
        check.close()


def reply(text):
    return Reply(text=text, usage=Usage(), answered="x")


def refusal(check):
    with pytest.raises(TaskFileError) as caught:
        check.reproduce()
    return str(caught.value)


# --- the red run ---


def test_a_red_project_is_reproduced_and_a_right_reply_passes(check_of, tmp_path):
    check = check_of(ADD)
    red = check.reproduce()
    assert (red.green, red.wanted, red.tests) == (False, ("tests/test_calc.py::test_add",), 1)
    assert "assert -1 == 5" in red.output
    candidate = check.parse(reply(GOOD))
    verdict = check.judge(candidate)
    assert verdict.passed, verdict.proofs
    assert verdict.isolation == "pytest"
    assert verdict.executed == ("tests/test_calc.py::test_add",)
    assert [(one.path, one.ran) for one in verdict.lines] == [("calc.py", (2,))]
    again = check.judge(Candidate(answer=candidate.answer, digest="from a certificate"))
    assert again.passed
    assert (tmp_path / "project/calc.py").read_text() == ADD["calc.py"]
    check.close()
    assert not (tmp_path / "run/copies").exists()


def test_another_process_goes_on_with_the_same_red_run(check_of, tmp_path):
    check_of(ADD).reproduce()
    (tmp_path / "project/calc.py").write_text("changed = 1\n")
    memory = (tmp_path / "run/reproduced.json").read_text()
    check = check_of({})
    assert check.reproduce().wanted == ("tests/test_calc.py::test_add",)
    assert check.judge(check.parse(reply(GOOD))).passed
    assert (tmp_path / "run/reproduced.json").read_text() == memory


def test_a_green_project_has_nothing_to_fix(check_of):
    files = {**ADD, "calc.py": "def add(a, b):\n    return a + b\n"}
    red = check_of(files).reproduce()
    assert red.green
    assert "nothing to fix: 1 of 1 tests pass" in red.summary


def test_a_green_start_can_be_allowed(check_of):
    files = {**ADD, "calc.py": "def add(a, b):\n    return a + b\n"}
    check = check_of(files, allow_green_start=True)
    assert not check.reproduce().green
    text = GOOD.replace("a + b", "sum((a, b))").replace("a - b", "a + b")
    verdict = check.judge(check.parse(reply(text)))
    assert verdict.passed, verdict.proofs


def test_a_flaky_test_is_named_and_left_out(check_of):
    flaky = """
        import os
        def test_sometimes():
            # The two runs have different containers: each has its own random numbers.
            assert os.getpid() < 0 or int(open('/proc/sys/kernel/random/uuid').read()[0], 16) < 8
    """
    names = [
        f"def test_{n}():\n    import uuid\n    assert uuid.uuid4().int % 2\n" for n in range(8)
    ]
    check = check_of(
        {**ADD, "tests/test_flaky.py": flaky, "tests/test_coin.py": "\n\n".join(names)}
    )
    red = check.reproduce()
    assert red.flaky
    assert all("flaky" in one or "coin" in one for one in red.flaky)
    assert "flaky left out" in red.summary
    assert "tests/test_calc.py::test_add" in red.wanted


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"calc.py": "", "tests/readme.txt": ""}, "no tests were collected"),
        (
            {"test_a.py": "import pytest\n\n\n@pytest.mark.skip\ndef test_a():\n    pass\n"},
            "all 1 tests were skipped",
        ),
        (
            {**ADD, "pytest.ini": "[pytest]\naddopts = -k nothing_of_this_name\n"},
            "no tests were collected",
        ),
        (
            {**ADD, "pyproject.toml": '[tool.pytest.ini_options]\naddopts = "--cov=x -n auto"\n'},
            "pytest-cov, pytest-xdist is not in the test image",
        ),
        (
            {"t1/test_u.py": "def test_a(): pass\n", "t2/test_u.py": "def test_b(): pass\n"},
            "t1/test_u.py and t2/test_u.py",
        ),
        ({**ADD, "tests/test_b.py": "import freezegun\n"}, "needs the module 'freezegun'"),
        (
            {
                ".gitignore": "version.py\n",
                "pkg/__init__.py": "from .version import version\n",
                "pkg/version.py": "version = '1'\n",
                "tests/test_b.py": "import pkg\n\n\ndef test_b():\n    pass\n",
            },
            "needs pkg/version.py, which is not in the copy: git ignores it",
        ),
        ({**ADD, "tests/test_b.py": "async def test_b():\n    pass\n"}, "pytest-asyncio"),
        ({**ADD, "tests/test_b.py": "def test_b(mocker):\n    pass\n"}, "pytest-mock"),
        ({**ADD, "pytest.ini": "[pytest]\naddopts = --strict-config\nnonsense = 1\n"}, "refuses"),
    ],
)
def test_a_project_that_cannot_be_judged_is_refused_before_any_model(
    check_of, tmp_path, files, words
):
    check = check_of(files)
    assert words in refusal(check)
    check.close()
    assert not (tmp_path / "run/workspace").exists()


def test_a_threshold_is_told_apart_from_failing_tests(check_of):
    files = {
        "calc.py": "",
        "test_a.py": "def test_a():\n    pass\n",
        "conftest.py": "def pytest_sessionfinish(session):\n    session.exitstatus = 1\n",
    }
    assert "every test passes, but pytest ends with exit code 1" in refusal(check_of(files))


def test_tests_that_do_not_end_are_named(check_of):
    files = {"test_a.py": "def test_a():\n    while True:\n        pass\n"}
    assert "did not end" in refusal(check_of(files, project_s=8.0))


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ("tests/test_calc.py::test_ad", "which pytest does not find"),
        ("tests/test_calc.py::test_two", "which passes already"),
    ],
)
def test_wrong_ids_are_refused(check_of, wanted, words):
    files = {
        **ADD,
        "tests/test_calc.py": ADD["tests/test_calc.py"] + "\n\ndef test_two():\n    pass\n",
    }
    assert words in refusal(check_of(files, fail_to_pass=(wanted,)))


def test_red_by_an_import_error_is_told_apart_and_can_be_mended(check_of):
    files = {
        "calc.py": "def add(a, b):\n    return a + b\n",
        "tests/test_mul.py": """
            import pytest
            from calc import mul


            @pytest.mark.parametrize("a", [1, 2])
            def test_mul(a):
                assert mul(a, 3) == a * 3
        """,
        "tests/test_calc.py": ADD["tests/test_calc.py"],
    }
    check = check_of(files)
    assert check.reproduce().wanted == ("tests/test_mul.py::test_mul",)
    code = files["calc.py"] + "\n\ndef mul(a, b):\n    return a * b\n"
    text = f"calc.py\n```python\n{code}```\n"
    verdict = check.judge(check.parse(reply(text)))
    assert verdict.passed, verdict.proofs
    assert verdict.proofs[0].detail == "1 could not be imported"
    assert "tests/test_mul.py::test_mul[2]" in verdict.executed


# --- replies ---


def test_an_edit_of_a_test_is_ignored_and_says_so(check_of):
    check = check_of(ADD)
    edit = GOOD.replace("calc.py", "tests/test_calc.py").replace(
        "return a - b", "assert add(2, 3) == 5"
    )
    candidate = check.parse(reply(GOOD + "\n" + edit))
    assert "tests/test_calc.py" in " ".join(candidate.notes)
    assert "tests/test_calc.py" not in candidate.answer
    assert check.judge(candidate).passed
    with pytest.raises(ReplyError):
        check.parse(reply(edit))


def test_tests_that_disappear_are_a_failure_that_says_so(check_of):
    files = {
        "base.py": "class Base:\n    value = 1\n",
        "tests/test_a.py": """
            from base import Base


            class TestA(Base):
                def test_a(self):
                    assert self.value == 2
        """,
    }
    check = check_of(files)
    code = "class Base:\n    value = 2\n\n    def __init__(self):\n        pass\n"
    text = f"base.py\n```python\n{code}```\n"
    verdict = check.judge(check.parse(reply(text)))
    assert not verdict.passed
    assert "did not run" in verdict.reason
    assert "1 tests that were there before did not run" in verdict.feedback


def test_a_clash_of_test_names_after_an_edit_names_both_files(check_of):
    files = {**ADD, "tests/test_api.py": "def test_b():\n    pass\n"}
    check = check_of(files, allow_test_edits=True)
    fine = "\ntests/unit/test_more.py\n```python\ndef test_c():\n    pass\n```\n"
    verdict = check.judge(check.parse(reply(GOOD + fine)))
    assert verdict.passed, verdict.proofs
    assert "tests/unit/test_more.py::test_c" in verdict.executed
    assert "tests were edited" in {look.signal for look in verdict.looks}
    verdict = check.judge(check.parse(reply(GOOD + fine.replace("test_more", "test_api"))))
    assert not verdict.passed
    assert "tests/test_api.py and tests/unit/test_api.py" in verdict.feedback


def test_hidden_tests_catch_what_is_hard_coded_and_are_never_shown(check_of, tmp_path):
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    secret = "from calc import add\n\n\ndef test_secret_sum():\n    assert add(40, 2) == 42\n"
    (hidden / "test_secret.py").write_text(secret)
    check = check_of(ADD, hidden_tests=hidden)
    text = GOOD.replace("return a + b", "return 5")
    verdict = check.judge(check.parse(reply(text)))
    assert not verdict.passed
    assert "secret" not in verdict.feedback + verdict.reason
    assert "42" not in verdict.feedback
    right = check.judge(check.parse(reply(GOOD)))
    assert right.passed, right.proofs
    assert not right.looks


def test_an_impossible_task_never_passes(check_of):
    other = "\n\ndef test_b():\n    assert add(2, 3) == 6\n"
    files = {**ADD, "tests/test_calc.py": ADD["tests/test_calc.py"] + other}
    check = check_of(files)
    assert not check.judge(check.parse(reply(GOOD))).passed


def test_a_vacuous_suite_never_passes(check_of):
    """Red only because a name is missing, and it checks nothing of it."""
    files = {
        "calc.py": "",
        "tests/test_calc.py": "from calc import add\n\n\ndef test_a():\n    assert True\n",
    }
    check = check_of(files)
    assert check.reproduce().wanted == ("tests/test_calc.py::test_a",)
    text = "calc.py\n```python\ndef add(a, b):\n    return None\n```\n"
    verdict = check.judge(check.parse(reply(text)))
    assert not verdict.passed
    assert "red again" in verdict.reason


INHERITED = {
    "calc.py": "import sys\n\n\ndef double(x):\n    return x\n",
    "tests/__init__.py": "",
    "tests/cases.py": "class Cases:\n    def test_both(self):\n        assert self.f(2) == 4\n",
    "tests/test_calc.py": """
        from calc import double
        from tests.cases import Cases


        class TestDouble(Cases):
            f = staticmethod(double)
    """,
}
ASKS = "sys._getframe(1).f_"
TEXT = f"open({ASKS}code.co_filename).read()"
CLASS = f"type({ASKS}locals['self']).__name__"


@pytest.mark.parametrize(
    ("body", "proof"),
    [
        ("return x * 2", ""),
        (f"return 4 if {ASKS}code.co_name == 'test_both' else x", "renamed passes"),
        (f"return 4 if {CLASS} == 'TestDouble' else x", "renamed passes"),
        (f"return 4 if 'def test_both' in {TEXT} else x", "renamed passes"),
        (f"return int({TEXT}.split('==')[1])", "twins fail"),
    ],
)
def test_inherited_tests_cannot_be_told(check_of, body, proof):
    check = check_of(INHERITED)
    assert check.reproduce().wanted == ("tests/test_calc.py::TestDouble::test_both",)
    edit = f"calc.py\n<<<<<<< SEARCH\n    return x\n=======\n    {body}\n>>>>>>> REPLACE\n"
    verdict = check.judge(check.parse(reply(edit)))
    held = {one.name: one.held for one in verdict.proofs}
    assert held["same tests"]  # pytest alone is fooled by each
    assert verdict.passed == (not proof), verdict.proofs
    assert not proof or not held[proof], verdict.proofs


def test_an_endless_patch_is_a_verdict(check_of):
    check = check_of(ADD, project_s=20.0)
    text = GOOD.replace("return a + b", "while True: pass")
    verdict = check.judge(check.parse(reply(text)))
    assert not verdict.passed
    assert "time" in verdict.reason


def test_a_patch_that_eats_memory_is_a_verdict(check_of):
    check = check_of(ADD)
    text = GOOD.replace("return a + b", "return len(bytearray(10**9) * 4)")
    assert not check.judge(check.parse(reply(text))).passed


# --- other commands ---

SHELL = {
    "check.sh": 'test "$(cat answer.txt)" = 42\n',
    "answer.txt": "41\n",
}


def test_another_command_has_the_weaker_label(check_of):
    check = check_of(SHELL, test_command="sh check.sh")
    assert check.reproduce().wanted == ("sh check.sh",)
    verdict = check.judge(check.parse(reply("answer.txt\n```\n42\n```\n")))
    assert verdict.passed, verdict.proofs
    assert verdict.isolation == "command"
    assert "weaker gate" in {look.signal for look in verdict.looks}
    wrong = check.judge(check.parse(reply("answer.txt\n```\n43\n```\n")))
    assert not wrong.passed


def test_python_under_another_command_must_be_red_again(check_of):
    files = {"calc.py": ADD["calc.py"], "Makefile": "", "go.sh": "exit 1\n"}
    check = check_of(files, test_command="/opt/venv/bin/python -m unittest discover -s tests")
    place = Path(check._task.project) / "tests/test_calc.py"
    place.parent.mkdir()
    place.write_text(
        "import unittest\nfrom calc import add\n\n\nclass T(unittest.TestCase):\n"
        "    def test_a(self):\n        self.assertEqual(add(1, 1), 2)\n"
    )
    verdict = check.judge(check.parse(reply(GOOD)))
    assert verdict.passed, verdict.proofs
    assert "red again" in {proof.name for proof in verdict.proofs}
    exits = GOOD.replace("return a + b", "__import__('os')._exit(0)")
    assert check.judge(check.parse(reply(exits))).passed, "the weaker gate is weaker: see its label"


def test_a_command_that_is_not_there_is_refused(check_of):
    said = refusal(check_of(SHELL, test_command="npm test"))
    assert "cannot be run in the test image" in said
    assert "dockerfile:" in said


def test_a_command_that_passes_has_nothing_to_fix(check_of):
    assert check_of({**SHELL, "answer.txt": "42\n"}, test_command="sh check.sh").reproduce().green
