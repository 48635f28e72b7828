"""The generator's command line: what is refused before anything is fetched."""

import pytest

from agent_loop.benchgen.options import parse


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["build", "lib"], "build needs --out"),
        (["build", "lib", "--show", "--strategy", "history"], "--show says how a library"),
        (["build", "lib", "--out", "o", "--count", "0"], "whole number from 1"),
    ],
)
def test_what_cannot_be_used_is_said(words, says, capsys):
    with pytest.raises(SystemExit) as left:
        parse(words)
    assert left.value.code == 2
    assert says in capsys.readouterr().err


def test_a_look_needs_no_folder():
    assert parse(["build", "lib", "--show"]).show
