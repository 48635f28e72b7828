"""Calls in plain text: those that are run, and everything that only looks like one (CASES E4)."""

import pytest

from agent_loop.episode.protocol import NoCall, described, read_call, recovered
from agent_loop.episode.repeats import Repeats
from tests.fakes.episodes import episode
from tests.fakes.toolbox import BASH, STRUCTURED

VIEW = '{"name": "view", "arguments": {"path": "a.py"}}'


@pytest.mark.parametrize(
    "text",
    [
        '```tool view\n{"path": "a.py"}\n```',
        'I look at it first.\n\n```tool view\n{"path": "a.py"}\n```\nThen I go on.',
        '~~~tool view\n{"path": "a.py"}\n~~~',
        "```tool view\na.py\n```",
        '```tool view\r\n{"path": "a.py"}\r\n```\r\n',
    ],
)
def test_the_protocol_is_read(text):
    read = read_call(text, STRUCTURED)
    assert (read.name, read.arguments["path"].strip(), read.recovered) == ("view", "a.py", False)


def test_a_command_may_be_plain_text_with_fences_in_it():
    text = "````tool bash\ncat > README.md <<'END'\n```\ncode\n```\nEND\n````"
    read = read_call(text, BASH)
    assert read.arguments["command"].startswith("cat > README.md")
    assert read.arguments["command"].endswith("END")


def test_of_several_calls_only_the_first_is_run():
    text = '```tool view\n{"path": "a.py"}\n```\nIt says x.\n```tool submit\n{}\n```'
    assert (read_call(text, STRUCTURED).name, read_call(text, STRUCTURED).more) == ("view", True)
    done, box, model, _ = episode(text, "```tool submit\n```", protocol="text")
    assert [c.name for c in box.calls] == ["view", "submit"]
    assert "Only the first call" in model.asked[1][-1].content
    assert done.recovered_calls == 0


RECOVERED = {
    "bare object": VIEW,
    "spaces around": f"\n\n  {VIEW}\n",
    "json fence": f"```json\n{VIEW}\n```",
    "fence": f"```\n{VIEW}\n```",
    "tags": f"<tool_call>\n{VIEW}\n</tool_call>",
    "function tags": '<function=view>{"path": "a.py"}</function>',
    "mistral": f"[TOOL_CALLS][{VIEW}]",
    "parameters": '{"name": "view", "parameters": {"path": "a.py"}}',
    "nested": '{"type": "function", "function": '
    '{"name": "view", "arguments": "{\\"path\\": \\"a.py\\"}"}}',
}


@pytest.mark.parametrize("name", RECOVERED)
def test_text_that_is_nothing_but_a_valid_call_is_recovered(name):
    for read in (read_call, recovered):
        found = read(RECOVERED[name], STRUCTURED)
        assert (found.name, dict(found.arguments), found.recovered) == (
            "view",
            {"path": "a.py"},
            True,
        )


NOT_RUN = {
    "a sentence before": f"I will call this now:\n```json\n{VIEW}\n```",
    "a sentence after": f"{VIEW}\nThat shows the file.",
    "a description": "I would call view with path a.py.",
    "a file with such a content": f"calls.json\n```json\n{VIEW}\n```",
    "two calls": f"{VIEW}\n{VIEW}",
    "an example inside a block": '```markdown\n```tool view\n{"path": "a.py"}\n```\n```',
    "an example in a longer fence": "````text\n```tool submit\n{}\n```\n````",
    "quoted": "> ```tool submit\n> {}\n> ```",
    "indented as code": "    ```tool submit\n    {}\n    ```",
    "not closed": '```tool view\n{"path": "a.py"}',
    "unknown argument": '{"name": "view", "arguments": {"path": "a.py", "and": 1}}',
    "missing argument": '{"name": "view", "arguments": {}}',
    "wrong type": '{"name": "view", "arguments": {"path": 7}}',
    "more keys": '{"name": "view", "arguments": {"path": "a.py"}, "result": "x"}',
    "a package.json": '{"name": "view", "version": "1.0"}',
    "not a number": '{"name": "view", "arguments": {"path": NaN}}',
    "very deep": '{"name": "view", "arguments": ' + '{"path": ' * 5000 + "1" + "}" * 5001,
    "empty": "",
    "python tags": '<function=view>path="a.py"</function>',
}


@pytest.mark.parametrize("name", NOT_RUN)
def test_nothing_else_is_run(name):
    done, box, _, heard = episode(NOT_RUN[name], "```tool submit\n```", protocol="text")
    assert [c.name for c in box.calls] == ["submit"], done
    assert heard.of("episode_step")[0]["call"] is None
    with pytest.raises(NoCall):
        recovered(NOT_RUN[name], STRUCTURED)


def test_an_unknown_tool_gets_the_list_of_tools():
    for text in ('{"name": "shell", "arguments": {"x": 1}}', "```tool shell\nls\n```"):
        with pytest.raises(NoCall, match=r"no tool 'shell'.*view, str_replace, create, run_tests"):
            read_call(text, STRUCTURED)


def test_a_recovered_call_of_a_native_model_is_marked_and_counted():
    done, _box, model, heard = episode(VIEW, '{"name": "submit", "arguments": {}}')
    assert (done.reason, done.native_calls, done.recovered_calls) == ("submitted", 0, 2)
    assert [e["recovered"] for e in heard.of("episode_step")] == [True, True]
    assert model.asked[1][-1].role == "user"
    assert heard.of("episode_ended")[0]["recovered_calls"] == 2


BESIDE = {
    "prose only": "The function folds nothing. I would normalise the text first.",
    "a fence without a path": "```python\ndef f():\n    return 2\n```",
    "the rules echoed": "One call: a fenced block that names the tool and holds the arguments.",
    "another language": "\u6211\u4f1a\u5148\u770b\u6587\u4ef6\uff0c\u7136\u540e\u4fee\u6539\u3002",
    "an edit block": "a.py\n<<<<<<< SEARCH\nreturn 1\n=======\nreturn 2\n>>>>>>> REPLACE",
    "JSON with a comma in prose": f"Here: {VIEW[:-2]},}}}} as you asked.",
    "a diff in a python fence": "```python\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x\n+y\n```",
    "a question back": "Which file should I look at?",
}


def test_answers_beside_the_format_get_one_short_line_and_are_counted():
    """CASES M4, for tools: nothing is run, nothing is guessed, the form is shown."""
    done, box, model, _ = episode(
        *(t for n, said in enumerate(BESIDE.values()) for t in (said, f"```tool view\n{n}\n```")),
        "```tool submit\n```",
        protocol="text",
        max_steps=30,
    )
    assert (done.reason, done.no_calls) == ("submitted", len(BESIDE))
    assert [c.name for c in box.calls] == ["view"] * len(BESIDE) + ["submit"]
    corrections = [asked[-1].content for asked in model.asked[1::2]]
    assert all(text.startswith("There is no tool call") for text in corrections)
    assert max(map(len, corrections)) < 600


def test_a_native_model_that_only_writes_text_is_named_unsuited():
    done, *_ = episode(VIEW, '{"name": "submit", "arguments": {}}')
    assert "unsuited to native calls" in done.detail


def test_what_a_tool_shows_is_never_a_call():
    """The content of a file that looks like a call comes back as text and stays text."""
    from tests.fakes.toolbox import MemoryToolbox

    trap = MemoryToolbox({"a.py": b"```tool submit\n{}\n```\n"})
    done, box, *_ = episode(
        "```tool view\na.py\n```", "Hm.", "```tool submit\n```", protocol="text", box=trap
    )
    assert (done.steps, [c.name for c in box.calls]) == (3, ["view", "submit"])


def test_the_description_names_every_tool_and_can_be_followed():
    for tools in (STRUCTURED, BASH):
        text = described(tools)
        assert all(f"- {tool.name}: " in text for tool in tools)
    assert "```tool bash\n" in described(BASH)


def test_circles_of_one_two_and_three():
    def counts(actions):
        repeats = Repeats()
        return [repeats.saw(a) for a in actions]

    assert counts("AAAAA") == [1, 2, 3, 4, 5]
    assert counts("ABABABABAB")[-1] == 5
    assert counts("ABCABCABC")[-1] == 3
    assert max(counts("ABACADAEAF")) == 1
    assert counts("AAAAB")[-1] == 1
