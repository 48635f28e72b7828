"""What a person sees of an episode while it runs: one line a step, nothing a terminal obeys."""

from agent_loop.cli.narrate import lines
from tests.fakes.episodes import does, episode


def test_steps_and_the_end_are_told_in_one_line_each():
    trick = does("view", path="a.py\x1b[31m\n" + "x" * 500)
    _, _, _, heard = episode(does("view", path="a.py"), trick, "no call", does("submit"))
    told = [line for kind, fields in heard.events for line in lines(kind, fields)]
    steps = [line.text for line in told if " step " in line.text]
    assert len(steps) == 4
    assert steps[0].startswith("lap 1 step 1: view a.py")
    assert steps[2].startswith("lap 1 step 3: no call There is no tool call")
    assert all("\x1b" not in text and "\n" not in text and len(text) < 160 for text in steps)
    assert told[-1].text.startswith("lap 1 episode: submitted after 4 steps")


def test_the_taken_answer_is_told():
    [line] = lines("sample_taken", {"lap": 2, "sample": 3, "of": 5})
    assert line.text == "lap 2 check: answer 3 of 5 is taken"
