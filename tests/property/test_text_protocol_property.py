"""Any text: the reader of calls raises nothing but its own error and finds only offered tools."""

import json

from hypothesis import given
from hypothesis import strategies as st

from agent_loop.episode.protocol import NoCall, misfit, read_call, recovered
from tests.fakes.toolbox import BASH, STRUCTURED

PIECES = st.sampled_from(
    ["```tool view", "```tool bash", "```tool", "```", "~~~tool submit", "~~~", "````", "\n",
     "\r\n",
     '{"path": "a.py"}', '{"name": "view", "arguments": {"path": "a.py"}}', "{", "}", "[", "]",
     "<tool_call>", "</tool_call>", "<function=view>", "</function>", "[TOOL_CALLS]", "I think",
     " ",
     '"', "\\", "\u2028", "\ud800", "\x00", "submit", "{}", "null", "NaN", "1e999"]
)  # fmt: skip
TEXTS = st.one_of(st.text(max_size=400), st.lists(PIECES, max_size=30).map("".join))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(TEXTS, st.sampled_from([STRUCTURED, BASH]), st.sampled_from([read_call, recovered]))
def test_any_text_gives_an_offered_tool_or_the_readers_own_error(text, tools, read):
    try:
        found = read(text, tools)
    except NoCall:
        return
    assert found.name in {tool.name for tool in tools}
    assert isinstance(found.arguments, dict)
    if found.recovered:
        [tool] = [tool for tool in tools if tool.name == found.name]
        assert not misfit(tool, found.arguments)
        assert text.strip()[:1] in "{[<`~"


@given(st.dictionaries(st.sampled_from(["path", "old", "new", "more"]), VALUES, max_size=4))
def test_what_is_recovered_is_exactly_what_was_written(arguments):
    text = json.dumps({"name": "str_replace", "arguments": arguments})
    try:
        found = recovered(text, STRUCTURED)
    except NoCall:
        assert set(arguments) != {"path", "old", "new"} or any(
            not isinstance(value, str) for value in arguments.values()
        )
        return
    assert found.arguments == arguments


@given(st.text(max_size=300))
def test_a_command_in_a_fence_arrives_as_it_was_written(command):
    bar = "`" * 60
    text = f"{bar}tool bash\n{command}\n{bar}"
    normal = command.replace("\r\n", "\n")
    if not normal.strip() or normal.strip()[0] in "{[" or "\r" in normal:
        return
    try:
        found = read_call(text, BASH)
    except NoCall:
        return
    assert found.arguments["command"] in {normal, json.dumps(command)}
