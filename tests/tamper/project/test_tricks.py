"""No known trick passes the gate of projects, and each one fools the naive command."""

import sys

import pytest
import tamper_suite
from tamper_victim import HIDDEN, PROJECT, RIGHT

from tests.conftest import open_docker_sandbox

pytestmark = [pytest.mark.docker, pytest.mark.slow]
TRICKS = tamper_suite.tricks()


@pytest.fixture(scope="module")
def gate(project_image, base_image):
    sandbox = open_docker_sandbox(base_image, pool=4)
    with tamper_suite.gate(sandbox, project_image) as found:
        yield found
    sandbox.close()


@pytest.mark.parametrize("name", TRICKS)
def test_a_trick_does_not_pass(gate, name):
    gate.lanes.warm(3)
    verdict = gate.judge.judge(tamper_suite.files_of(TRICKS[name]))
    if name in tamper_suite.LOOK_AT_BEST:
        assert verdict.looks
        verdict = gate.with_hidden.judge(tamper_suite.files_of(TRICKS[name]))
    if name in tamper_suite.LOOK_ALWAYS:
        verdict = gate.with_hidden.judge(tamper_suite.files_of(TRICKS[name]))
        assert {look.signal for look in verdict.looks} == {tamper_suite.LOOK_ALWAYS[name]}
        return
    assert not verdict.passed, verdict.proofs


@pytest.mark.parametrize("name", TRICKS)
def test_control_the_naive_command_is_fooled(gate, name):
    trick = TRICKS[name]
    if getattr(trick, "SAME_PYTHON", False) and sys.version_info[:2] != (3, 11):
        pytest.skip("compiled files are of one Python version only")
    answer = gate.naive(trick)
    assert answer.code == 0, answer.output


def test_control_the_honest_fix_passes_without_and_with_hidden_tests(gate):
    files = {path: text.encode() for path, text in RIGHT.items()}
    verdict = gate.judge.judge(files)
    assert verdict.passed, verdict.proofs
    assert {look.signal for look in verdict.looks} == {"no hidden tests"}
    verdict = gate.with_hidden.judge(files)
    assert verdict.passed, verdict.proofs
    assert not verdict.looks


def test_control_the_untouched_project_is_red(gate):
    assert gate.naive(type("Nothing", (), {"FILES": {}})).code == 1


def test_there_are_forty_tricks_or_more():
    assert len(TRICKS) >= 40
    assert len(PROJECT) + len(HIDDEN) > 0
