"""The pure parts of the project gate: command, records, rules, reasons, proofs, mounted copy."""

import json
from types import SimpleNamespace

import pytest

from agent_loop.checks.project import proofs
from agent_loop.checks.project.command import (
    FOLDER,
    Job,
    Kind,
    Setting,
    Trace,
    parse_command,
    pytest_job,
)
from agent_loop.checks.project.diagnose import (
    clashing,
    exit_without_failure,
    nothing_ran,
    trouble,
)
from agent_loop.checks.project.feedback import MAX_CHARS, after_suite, bounded
from agent_loop.checks.project.frozen import Frozen
from agent_loop.checks.project.inside import inside_supervisor
from agent_loop.checks.project.protected import Protection, translate
from agent_loop.checks.project.records import Answer, TestRun, read
from agent_loop.checks.project.settings import find_setting
from agent_loop.checks.project.source.sabotage import Marker
from agent_loop.checks.project.tree import Base, Mounted
from agent_loop.checks.project.twins.copies import CopiedTest
from agent_loop.errors import StoreFault

# --- the command ---


@pytest.mark.parametrize(
    ("command", "options", "selection"),
    [
        ("pytest", (), ()),
        ("pytest -q", ("-q",), ()),
        ("python3 -m pytest tests/unit", (), ("tests/unit",)),
        ("pytest -k 'a and b' -W error", ("-W", "error"), ("-k", "a and b")),
        ("pytest -x --maxfail=2 -p no:doctest", ("-p", "no:doctest"), ("-x", "--maxfail=2")),
        ("pytest --doctest-modules pkg", ("--doctest-modules",), ("pkg",)),
    ],
)
def test_a_pytest_command_is_taken_apart(command, options, selection):
    call = parse_command(command)
    assert (call.options, call.selection) == (options, selection)


@pytest.mark.parametrize(
    "command",
    ["npm test", "make check", "pytest && true", "FOO=1 pytest", "pytest | tee x", "pytest 'a", ""],
)
def test_anything_else_gets_the_weaker_gate(command):
    assert parse_command(command) is None


SETTING = Setting(
    call=parse_command("pytest -q -k x t"), config="tox.ini", python_path=("/project/src",)
)


def told(job):
    return json.loads(job.input)


def test_the_command_is_frozen():
    run = told(pytest_job(SETTING, ["tests/test_a.py::test_b[x y]"], wall_s=9))
    line = " ".join(run["before"] + run["after"])
    assert "-c /project/tox.ini" in line
    assert "--rootdir=/project" in line
    assert "pythonpath=/project/src" in line
    assert "-k" not in line
    assert run["after"][-1] == f"@{FOLDER}/ids.txt"


def test_only_the_first_run_lets_the_task_choose():
    run = told(pytest_job(SETTING, None, wall_s=9, kind=Kind(name="collect")))
    assert run["after"][:3] == ["-k", "x", "t"]
    assert run["look"]


def test_runs_that_must_fail_and_runs_that_must_pass_look_alike():
    one = pytest_job(SETTING, ["a"], wall_s=9)
    other = pytest_job(SETTING, ["a"], wall_s=9)
    assert one == other
    assert one.argv is None
    traced = pytest_job(
        SETTING,
        ["a"],
        wall_s=9,
        kind=Kind(name="lines", trace=Trace(changed={"a.py": frozenset({2, 1})}, tests=("t.py",))),
    )
    assert told(traced)["trace"] == {
        "changed": {"/project/a.py": [1, 2]},
        "tests": ["/project/t.py"],
    }
    assert traced.files == one.files


def test_a_job_is_length_and_json():
    data = Job(wall_s=1.0).as_bytes("s")
    assert int.from_bytes(data[:8], "big") == len(data) - 8
    assert json.loads(data[8:])["secret"] == "s"


def lay(root, files):
    for name, text in files.items():
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return Base(root)


@pytest.mark.parametrize(
    ("files", "config", "path"),
    [
        ({"a.py": ""}, None, ("/project",)),
        ({"src/a.py": ""}, None, ("/project/src",)),
        (
            {"pytest.ini": "[pytest]\npythonpath = lib\n"},
            "pytest.ini",
            ("/project/lib", "/project"),
        ),
        (
            {"pyproject.toml": "[tool.pytest.ini_options]\npythonpath = ['lib']\n"},
            "pyproject.toml",
            ("/project/lib", "/project"),
        ),
        ({"pyproject.toml": "[project]\nname = 'x'\n"}, None, ("/project",)),
        ({"setup.cfg": "[tool:pytest]\n"}, "setup.cfg", ("/project",)),
        (
            {"pyproject.toml": "[tool.pytest.ini_options]\n= broken"},
            "pyproject.toml",
            ("/project",),
        ),
    ],
)
def test_configuration_and_import_path_are_found(tmp_path, files, config, path):
    setting = find_setting(
        lay(tmp_path, files), parse_command("pytest"), python_path=(), plugins=()
    )
    assert (setting.config, setting.python_path) == (config, path)


# --- records ---


def lines(*records):
    return "".join(json.dumps(one) + "\n" for one in records)


PLAIN = {"t": "report", "outcome": "passed", "xfail": False, "sub": False, "text": ""}


def report(name, when, outcome="passed", **more):
    return {**PLAIN, "id": name, "when": when, "outcome": outcome, **more}


def whole_run(*outcomes, code=None, ids=(), extra=(), end=True):
    """A whole run with these outcomes, by id."""
    records = [{"t": "ids", "ids": [[one, "function"] for one in ids or [n for n, _ in outcomes]]}]
    for name, outcome in outcomes:
        records += [report(name, "setup"), report(name, "call", outcome), report(name, "teardown")]
    bad = any(outcome == "failed" for _, outcome in outcomes)
    status = int(bad) if code is None else code
    records += [
        *extra,
        *([{"t": "end", "code": status, "collected": len(outcomes)}] if end else []),
    ]
    return read(Answer(code=status, records=lines(*records)))


def test_a_whole_run_is_clean():
    run = whole_run(("a", "passed"), ("b", "passed"))
    assert run.clean
    assert run.outcomes == {"a": "passed", "b": "passed"}


@pytest.mark.parametrize(
    "records",
    [
        [report("a", "call"), {"t": "end", "code": 0, "collected": 1}],
        [*[report("a", w) for w in ("setup", "call", "call", "teardown")], {"t": "end", "code": 0}],
        [*[report("a", w) for w in ("setup", "call", "teardown")]],
        [{"t": "end", "code": 0}, *[report("a", w) for w in ("setup", "call", "teardown")]],
        [{"t": "end", "code": 1}],
        [{"t": "end", "code": 0}, {"t": "end", "code": 0}],
        [{"t": "other"}, {"t": "end", "code": 0}],
        [{"t": "report"}, {"t": "end", "code": 0}],
        [{"t": "ids", "ids": [["a", "b"]]}, {"t": "ids", "ids": []}, {"t": "end", "code": 0}],
        [{"t": "ids", "ids": 3}, {"t": "end", "code": 0}],
    ],
)  # fmt: skip
def test_records_that_a_true_run_does_not_give_are_never_clean(records):
    assert not read(Answer(code=0, records=lines(*records))).clean


@pytest.mark.parametrize(
    "text", ["{", "[]\n", "null\n", "\x00", '{"t": "end", "code": "x"}\n', "[" * 5000]
)
def test_torn_records_are_a_problem_and_never_an_exception(text):
    assert not read(Answer(code=0, records=text)).clean


def test_a_failed_subtest_fails_its_test():
    sub = report("a", "call", "failed", sub=True)
    phases = [report("a", when) for when in ("setup", "call", "teardown")]
    records = [phases[0], sub, *phases[1:], {"t": "end", "code": 1}]
    assert read(Answer(code=1, records=lines(*records))).outcomes == {"a": "failed"}


def test_skips_and_expected_failures_are_told_apart():
    records = [
        report("a", "setup", "skipped"),
        report("b", "call", "skipped", xfail=True),
        report("c", "call", "passed", xfail=True),
        report("d", "setup", "failed"),
    ]
    assert read(Answer(code=0, records=lines(*records))).outcomes == {
        "a": "skipped",
        "b": "xfail",
        "c": "xpass",
        "d": "error",
    }


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer(code=None, timed_out=True), "within its time"),
        (Answer(code=None, lingered=True), "process did not"),
        (Answer(code=None, signal=11), "signal 11"),
        (Answer(code=3), "exit code 3"),
        (Answer(code=None, trouble="out of memory"), "out of memory"),
    ],
)
def test_an_ending_is_said_in_words(answer, words):
    assert words in answer.ending


def test_the_same_run_gives_the_same_text_whatever_time_it_took():
    one = Answer(code=0, output="..\n2 passed in 0.27s\n").said
    other = Answer(code=0, output="..\n2 passed in 61.35s (0:01:01)\n").said
    assert one == other == "..\n2 passed in … s\n"
    wide = "===== 1 failed in 0.50s =====\nslept in 0.50s today\n"
    assert Answer(code=1, output=wide).said == "===== 1 failed in … s =====\nslept in 0.50s today\n"


# --- path rules ---

RULES = Protection(
    known=frozenset({"src/pkg/__init__.py", "src/pkg/a.py", "tests/test_a.py", "json/x.py"}),
    test_files=frozenset({"src/pkg/checks.py"}),
    globs=("docs/**", "*.sql"),
    roots=("src",),
    installed=frozenset({"requests"}),
)


@pytest.mark.parametrize(
    "path",
    [
        "conftest.py", "pkg/conftest.py", "tests/new.py", "pkg/tests/data.json", "test_x.py",
        "pkg/x_test.py", "pytest.ini", "tox.ini", "pkg/setup.cfg", "pyproject.toml", ".coveragerc",
        "a.pth", "sitecustomize.py", "sitecustomize/__init__.py", "usercustomize.py",
        "pkg/__pycache__/a.cpython-311.pyc", "a.so", "re.py", "src/re.py",
        "src/requests/__init__.py",
        "pytest.py", "_pytest/x.py", "src/pkg/checks.py", "docs/a/b.md", "deep/x.sql", "Makefile",
        "package.json", "x.egg-info/entry_points.txt", ".git/config", "web/a.test.js", "setup.py",
    ],
)  # fmt: skip
def test_what_decides_is_protected(path):
    assert RULES.why(path)
    assert RULES(path)


@pytest.mark.parametrize(
    "path",
    ["src/pkg/a.py", "src/pkg/re.py", "src/pkg/new.py", "src/new.py", "README.md", "json/y.py",
     "data/re.txt", "src/contest.py", "src/pkg/attest.py"],
)  # fmt: skip
def test_sources_are_not(path):
    assert RULES.why(path) is None


@pytest.mark.parametrize(
    "path",
    ["ConfTest.py", "tox.INI", "pkg/Setup.CFG", "A.PTH", "X.Egg-Info/a", "a.PYC",
     "UserCustomize.PY", "TESTS/new.py", "Test_x.PY", ".GIT/config", "SRC/pkg/Checks.py",
     "Docs/a.MD", "caf\u00e9s/x.py", "CAFE\u0301S/x.py", "PyProject.toml"],
)  # fmt: skip
def test_a_name_that_some_disks_take_for_a_protected_one_is_protected(path):
    """The copy that is mounted lies on the owner's disk, which may know no case."""
    rules = Protection(
        known=RULES.known | {"docs/a.md", "cafe\u0301s/x.py"},
        test_files=RULES.test_files,
        globs=("docs/a.md", "cafe\u0301s/**"),
    )
    assert rules.why(path)
    assert rules.why("SRC/pkg/A.py") is None


@pytest.mark.parametrize(
    ("path", "kept"),
    [("verify/csv.py", True), ("verify/csv/__init__.py", True), ("verify/in/csv.py", False),
     ("inner/csv.py", True), ("pack/sub/csv.py", False), ("verify/more.py", False)],
)  # fmt: skip
def test_a_folder_of_tests_is_where_modules_are_imported_from_too(path, kept):
    """A test that computes what it expects would compute it with the new module."""
    rules = Protection(
        known=frozenset({"pack/__init__.py", "pack/sub/__init__.py", "inner/conftest.py"}),
        test_files=frozenset({"verify/test_a.py", "pack/sub/test_b.py"}),
    )
    assert bool(rules.why(path)) is kept


def test_the_owner_may_allow_test_edits_but_not_configuration():
    rules = Protection(known=frozenset(), allow_test_edits=True)
    assert rules.why("tests/test_a.py") is None
    assert rules.why("tests/conftest.py")


@pytest.mark.parametrize(
    ("glob", "path", "fits"),
    [
        ("*.md", "a/b.md", True),
        ("a/*.md", "a/b.md", True),
        ("a/*.md", "a/b/c.md", False),
        ("a/**", "a/b/c.md", True),
        ("a/", "a/b", True),
        ("**/x.py", "x.py", True),
        ("a?.py", "ab.py", True),
        ("a.py", "aXpy", False),
    ],
)
def test_globs(glob, path, fits):
    import re

    assert bool(re.fullmatch(translate(glob), path)) is fits


# --- reasons ---


def run_with(output="", code=0, **more):
    return TestRun(answer=Answer(code=code, output=output), **more)


def ended(**more):
    return run_with(code=1, ended=True, **more)


MISSING = "ModuleNotFoundError: No module named '{}'"


def why(run, known=("pkg/a.py",), said=""):
    found = trouble(run, known=known, said=said)
    return f"{found.problem} {found.fix}" if found else None


def test_unknown_options_name_the_plugins_and_the_settings():
    said = why(run_with("error: unrecognized arguments: --cov=x -n auto\n", code=4))
    assert "pytest-cov" in said
    assert "pytest-xdist" in said
    assert "requirements" in said
    assert "pytest_plugins" in said


@pytest.mark.parametrize(
    ("run", "word"),
    [
        (run_with("ERROR: Missing required plugins: pytest-django", code=4), "pytest-django"),
        (run_with("ERROR: bad config", code=4), "bad config"),
        (ended(texts={"a": "async def functions are not natively supported."}), "pytest_asyncio"),
        (ended(texts={"a": "fixture 'mocker' not found"}), "pytest-mock"),
        (ended(uncollected={"t.py": MISSING.format("freezegun")}), "freezegun"),
        (TestRun(answer=Answer(code=None, timed_out=True)), "did not end"),
        (TestRun(answer=Answer(code=None, lingered=True)), "process did not"),
        (TestRun(answer=Answer(code=None, trouble="the container ran out of memory")), "memory"),
    ],
)  # fmt: skip
def test_what_keeps_a_project_from_being_judged_is_named(run, word):
    assert word in why(run)


def test_a_missing_module_of_the_project_or_the_task_is_the_workers_to_write():
    run = ended(uncollected={"t.py": MISSING.format("pkg.new")})
    assert why(run) is None
    run = ended(uncollected={"t.py": MISSING.format("slug")})
    assert why(run, said="Write slug.py") is None


def test_two_test_files_of_one_name():
    text = (
        "import file mismatch:\nimported module 'test_u' has this __file__ attribute:\n"
        "  /project/t1/test_u.py\nwhich is not the same as the test file we want to collect:\n"
        "  /project/t2/test_u.py\nHINT: remove"
    )
    assert clashing(text) == ("t1/test_u.py", "t2/test_u.py")
    assert "t2/test_u.py" in why(run_with(uncollected={"t2/test_u.py": text}, ended=True, code=2))


def test_nothing_ran_is_neither_red_nor_green():
    assert "no tests were collected" in nothing_ran(run_with(code=5)).problem
    skipped = run_with(outcomes={"a": "skipped", "b": "xfail"})
    assert "all 2 tests were skipped" in nothing_ran(skipped).problem
    assert nothing_ran(run_with(outcomes={"a": "passed", "b": "skipped"})) is None


def test_a_threshold_is_no_failing_test():
    run = run_with(
        "FAIL Required test coverage of 90% not reached",
        code=1,
        outcomes={"a": "passed"},
        ended=True,
    )
    assert "Required test coverage" in exit_without_failure(run).problem
    assert exit_without_failure(run_with(code=0, outcomes={"a": "passed"})) is None


# --- proofs ---

FROZEN = Frozen(
    outcomes={"a": "failed", "b": "passed", "c": "skipped", "d": "failed"}, kinds={}, wanted=("a",)
)


def test_a_full_run_leaves_out_what_fails_and_is_not_wanted():
    assert FROZEN.ids == ("a", "b", "c")


@pytest.mark.parametrize(
    ("run", "held"),
    [
        (whole_run(("a", "passed"), ("b", "passed"), ("c", "skipped")), True),
        (whole_run(("a", "passed"), ("b", "passed"), ("c", "passed")), True),
        (whole_run(("a", "passed"), ("b", "passed"), ("c", "failed")), False),
        (whole_run(("a", "skipped"), ("b", "passed"), ("c", "skipped")), False),
        (whole_run(("a", "passed"), ("b", "skipped"), ("c", "skipped")), False),
        (whole_run(("a", "passed"), ("b", "passed")), False),
        (whole_run(("a", "passed"), ("b", "passed"), ("c", "passed"), ("z", "passed")), False),
        (whole_run(("a", "passed"), ("b", "passed"), ("c", "passed"), end=False), False),
        (whole_run(("a", "passed"), ("b", "passed"), ("c", "passed"), code=1), False),
    ],
)
def test_same_tests(run, held):
    assert proofs.same_tests(FROZEN, run).held is held


def test_red_first_names_how():
    assert proofs.red_first(FROZEN).detail == "1 failed"
    by_import = Frozen(outcomes={}, kinds={}, wanted=(), by_import=("t.py::test_a",))
    assert proofs.red_first(by_import).detail == "1 could not be imported"
    assert not proofs.red_first(Frozen(outcomes={"b": "passed"}, kinds={}, wanted=())).held


MARK = Marker(name="Abc", message="d")


UNCOLLECTED = {"t": "collect", "id": "t", "text": ""}


def raised(name, when="call", kinds=("Abc",)):
    return {"t": "raised", "id": name, "when": when, "names": list(kinds)}


@pytest.mark.parametrize(
    ("run", "held"),
    [
        (whole_run(("a", "failed"), extra=[raised("a")]), True),
        (whole_run(("a", "failed"), extra=[raised("a", kinds=("ValueError", "Abc"))]), True),
        (whole_run(("a", "failed"), extra=[raised("a", kinds=("ValueError",))]), False),
        (whole_run(("a", "passed"), extra=[raised("a")]), False),
        (whole_run(("a", "failed"), extra=[raised("a"), UNCOLLECTED]), False),
        (whole_run(("a", "failed"), extra=[raised("a")], end=False), False),
    ],
)  # fmt: skip
def test_a_sabotage_counts_only_where_its_own_exception_reached_the_test(run, held):
    assert bool(proofs.sabotaged(run, ["a"], MARK)) is held


def copied(original, run, *lines):
    return CopiedTest(original=original, run=run, lines=frozenset(lines))


def twins(run, tests, ran=(), wanted=("a",)):
    part = proofs.MustFail(run=run, tests=tests)
    seen = frozenset(("a", "/project/" + "a".partition("::")[0], line) for line in ran)
    return proofs.twins_fail([part], wanted, seen, ())


def test_twins():
    assert twins(whole_run(("x", "failed")), [copied("a", "x", 3)], ran=[3]).proof.held
    assert not twins(whole_run(("x", "passed")), [copied("a", "x", 3)], ran=[3]).proof.held
    assert not twins(whole_run(("y", "failed")), [copied("a", "x", 3)], ran=[3]).proof.held
    assert not twins(whole_run(("x", "failed"), end=False), [copied("a", "x", 3)]).proof.held
    assert not twins(whole_run(("x", "failed"), code=0), [copied("a", "x", 3)]).proof.held


def test_a_check_that_never_runs_proves_nothing_alone():
    idle = twins(whole_run(("x", "passed")), [copied("a", "x", 3)])
    assert not idle.proof.held
    both = twins(
        whole_run(("x", "passed"), ("y", "failed")),
        [copied("a", "x", 3), copied("a", "y", 5)],
        ran=[5],
    )
    assert both.proof.held
    assert both.look


def test_a_wanted_test_that_no_altered_check_turned_red_is_told():
    run = whole_run(("x", "passed"), ("y", "failed"))
    part = proofs.MustFail(run=run, tests=[copied("a", "x", 3), copied("b", "y", 5)])
    assert proofs.not_turned([part], ["a", "b", "c"]) == ["a", "c"]


def test_lines_of_wanted_tests_count():
    line = {"t": "line", "test": "a", "path": "/project/m.py", "line": 4}
    changed = {"m.py": frozenset({4})}
    run = whole_run(("a", "passed"), extra=[line])
    assert proofs.lines_ran(run, ["a"], changed, inside=True).proof.held
    assert not proofs.lines_ran(whole_run(("a", "passed")), ["a"], changed, inside=True).proof.held
    at_import = whole_run(("a", "passed"), extra=[{**line, "test": ""}])
    assert proofs.lines_ran(at_import, ["a"], changed, inside=True).look
    assert not proofs.lines_ran(at_import, ["a"], changed, inside=False).look
    assert proofs.lines_ran(run, ["a"], {}, inside=False).look


def test_a_replaced_function_is_seen_unless_it_was_so_before():
    run = whole_run(("a", "passed"), extra=[{"t": "replaced", "names": ["random.choice"]}])
    assert not proofs.nothing_replaced(FROZEN, [run]).held
    before = Frozen(outcomes={}, kinds={}, wanted=(), replaced=("random.choice",))
    assert proofs.nothing_replaced(before, [run]).held


def test_hidden_tests_are_never_named():
    run = whole_run(("tests/test_secret.py::test_x", "failed"))
    proof = proofs.hidden_pass(run, {"tests/test_secret.py": ["tests/test_secret.py::test_x"]})
    assert not proof.held
    assert "secret" not in proof.detail
    gone = proofs.hidden_pass(whole_run(("a", "passed")), {"h.py": ["h.py::test_x"]})
    assert not gone.held


# --- what the worker hears ---


def test_feedback_names_broken_and_vanished_tests():
    run = whole_run(("b", "failed"), extra=[])
    said = after_suite(FROZEN, run, "2 of 3")
    assert "b (it passed before your change)" in said
    assert "2 tests that were there before did not run" in said


def test_feedback_is_bounded_and_keeps_both_ends():
    text = bounded("a" * 20_000 + "z" * 20_000)
    assert len(text) <= MAX_CHARS
    assert text[0] == "a"
    assert text[-1] == "z"


def test_records_of_the_red_run_survive_json():
    again = Frozen.from_record(json.loads(json.dumps(FROZEN.as_record())))
    assert again == FROZEN
    with pytest.raises(KeyError):
        Frozen.from_record({})


# --- the mounted copy ---


def test_a_copy_shows_the_base_and_what_is_laid_over_it(tmp_path):
    base = lay(tmp_path / "base", {"a.py": "1", "d/b.py": "2", "__pycache__/a.pyc": "x"})
    tree = Mounted(base, tmp_path / "tree")
    assert not (tree.root / "__pycache__").exists()
    tree.show({"a.py": b"9", "n/new.py": b"3", "d/b.py": None})
    assert (tree.root / "a.py").read_bytes() == b"9"
    assert (tree.root / "n/new.py").exists()
    assert not (tree.root / "d").exists()
    tree.show({})
    assert {one.relative_to(tree.root).as_posix() for one in tree.root.rglob("*.py")} == {
        "a.py",
        "d/b.py",
    }
    assert (tree.root / "a.py").read_text() == "1"
    assert (base.root / "a.py").read_text() == "1"


def test_unchanged_files_are_not_written_again(tmp_path):
    base = lay(tmp_path / "base", {"a.py": "1"})
    tree = Mounted(base, tmp_path / "tree")
    tree.show({"a.py": b"9"})
    before = (tree.root / "a.py").stat().st_ino
    tree.show({"a.py": b"9", "b.py": b"1"})
    assert (tree.root / "a.py").stat().st_ino == before


def test_copies_share_files_until_one_of_them_is_changed(tmp_path):
    base = lay(tmp_path / "base", {"a.py": "1"})
    first = Mounted(base, tmp_path / "one")
    second = Mounted(base, tmp_path / "two", like=first)
    assert (first.root / "a.py").stat().st_ino == (second.root / "a.py").stat().st_ino
    first.show({"a.py": b"9"})
    assert (second.root / "a.py").read_text() == "1"
    assert (base.root / "a.py").read_text() == "1"


def test_a_write_from_outside_is_seen(tmp_path):
    base = lay(tmp_path / "base", {"tests/t.py": "1"})
    tree = Mounted(base, tmp_path / "tree")
    assert tree.tampered(lambda _: True) == []
    (tree.root / "tests/t.py").write_text("2")
    assert tree.tampered(lambda _: True) == ["tests/t.py"]


def test_nothing_is_written_behind_a_link(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    base = lay(tmp_path / "base", {"a.py": "1"})
    (tmp_path / "base" / "link").symlink_to(outside)
    tree = Mounted(Base(base.root), tmp_path / "tree")
    for path in ("link/x.py", "../x.py"):
        with pytest.raises(StoreFault):
            tree.show({path: b"1"})
    assert not list(outside.iterdir())


@pytest.mark.parametrize(
    ("started", "ended", "latest"),
    [
        (0.0, 1.0, 11.0),  # a quiet machine: the grace as it is
        (0.0, 40.0, 80.0),  # a busy one: as long again as the tests took
        (0.0, 100.0, 130.0),  # never past the run's own limit and the grace
    ],
)
def test_the_way_out_gets_as_long_as_the_tests_took(started, ended, latest):
    watch = SimpleNamespace(job={"grace_s": 10.0, "wall_s": 120.0})
    assert inside_supervisor.Watch.latest_end(watch, started, ended) == latest
