"""Tool calls in plain text: how they are described, read, and told from everything else.

A call is a fenced block whose opening line says `tool NAME`. Nothing else in a text is one: not a
file that looks like a call, not an example in another block, not a description of what could be
done. Only a text that is nothing but a call, in one of the forms that models were trained on, is
taken for what it is, and marked as recovered.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agent_loop.errors import ReplyError
from agent_loop.ports import Json, ToolCall, ToolSpec

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*(.*)")
_TAGGED = (
    re.compile(r"<(?P<tag>tool_call|function_call|tool)>\s*(?P<body>.*?)\s*</(?P=tag)>", re.DOTALL),
    re.compile(r"\[(?P<tag>TOOL_CALLS?)\]\s*(?P<body>.*)", re.DOTALL),
    re.compile(r"<function=(?P<name>[\w.-]{1,64})>\s*(?P<body>.*?)\s*</function>", re.DOTALL),
)
_ARGUMENTS = ("arguments", "parameters", "args", "input")
_FENCED_ALONE = re.compile(
    r"(`{3,}|~{3,})[ \t]*(?:json|tool_call|tool_code)?[ \t]*\n(.*)\n\1", re.DOTALL
)
_KINDS: Mapping[str, tuple[type, ...]] = {
    "string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,),
    "array": (list,), "object": (dict,),
}  # fmt: skip


class NoCall(ReplyError):
    """The text holds no call that can be run; the message is the observation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A call that a text holds."""

    name: str
    arguments: Mapping[str, Json]
    recovered: bool = False
    """It did not keep to the protocol, but was nothing else either."""
    more: bool = False
    """Other calls come after it; they are not run."""

    def call(self, id_: str) -> ToolCall:
        return ToolCall(id=id_, name=self.name, arguments=self.arguments)


def described(tools: Sequence[ToolSpec]) -> str:
    """What a model without native tools is told of them."""
    shown = "\n".join(
        f"- {tool.name}: {tool.description}\n  arguments: {json.dumps(tool.parameters)}"
        for tool in tools
    )
    first = tools[0]
    raw = next((t for t in tools if _raw_argument(t)), None)
    more = (
        f"\n\n{raw.name} also takes its {_raw_argument(raw)} as plain text:\n\n"
        f"```tool {raw.name}\nthe {_raw_argument(raw)}, on as many lines as it needs\n```"
        if raw
        else ""
    )
    return (
        f"You work with these tools:\n{shown}\n\n"
        "Answer with exactly one call: a fenced block that names the tool and holds the arguments "
        f"as a JSON object.\n\n```tool {first.name}\n{_example(first)}\n```{more}\n\n"
        "You then see what it gave, and make the next call."
    )


def read_call(text: str, tools: Sequence[ToolSpec]) -> Read:
    """The one call of a text that keeps to the protocol, or that is nothing but a call.

    Raises:
        NoCall: there is none; says what to write instead.
    """
    blocks, open_block = _tool_blocks(text)
    if blocks:
        name, body = blocks[0]
        spec = offered(name, tools)
        return Read(name=name, arguments=_arguments(spec, body), more=len(blocks) > 1)
    if open_block:
        raise NoCall("The block with the call is not closed, so it was not run. " + _how(tools))
    return recovered(text, tools)


def recovered(text: str, tools: Sequence[ToolSpec]) -> Read:
    """The call of a text that is nothing but one.

    Raises:
        NoCall: it is something else, or calls no tool that is offered.
    """
    name, body = _alone(text.strip())
    value = _json(body) if body else None
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, dict):
        raise NoCall("There is no tool call in the answer. " + _how(tools))
    if not name:
        name, value = _named(value)
    if not name:
        raise NoCall("There is no tool call in the answer. " + _how(tools))
    spec = offered(name, tools)
    if not isinstance(value, dict) or (problem := misfit(spec, value)):
        why = problem if isinstance(value, dict) else "the arguments are no JSON object"
        raise NoCall(f"The call of {name} was not run: {why}.")
    return Read(name=name, arguments=value, recovered=True)


def offered(name: str, tools: Sequence[ToolSpec]) -> ToolSpec:
    """The tool of that name.

    Raises:
        NoCall: nobody offers it; lists those there are.
    """
    for tool in tools:
        if tool.name == name:
            return tool
    names = ", ".join(tool.name for tool in tools)
    raise NoCall(f"There is no tool {name[:64]!r}. The tools are: {names}.")


def misfit(tool: ToolSpec, arguments: Mapping[str, Json]) -> str:
    """Why arguments do not fit a tool; empty where they do."""
    properties = tool.parameters.get("properties")
    known = properties if isinstance(properties, Mapping) else {}
    required = tool.parameters.get("required")
    for name in required if isinstance(required, list | tuple) else ():
        if name not in arguments:
            return f"'{name}' is missing"
    for name, value in arguments.items():
        field = known.get(name)
        if not isinstance(field, Mapping):
            return f"'{name[:64]}' is no argument of {tool.name}"
        kinds = _KINDS.get(str(field.get("type")))
        if kinds and (not isinstance(value, kinds) or (bool not in kinds and value is True)):
            return f"'{name}' must be of type {field.get('type')}"
    return ""


# --- inside -----------------------------------------------------------------------------------


def _tool_blocks(text: str) -> tuple[list[tuple[str, str]], bool]:
    """(name, body) of every block `tool NAME` at the top level; and whether one stays open."""
    found: list[tuple[str, str]] = []
    fence, name, body = "", "", list[str]()
    for line in text.replace("\r\n", "\n").split("\n"):
        match = _FENCE.fullmatch(line)
        if not fence:
            if match and (match[1][0] == "~" or "`" not in match[2]):
                word, _, rest = match[2].strip().partition(" ")
                fence, body = match[1], []
                name = rest.strip() if word == "tool" and rest.strip() else ""
        elif match and not match[2] and match[1].startswith(fence):
            if name:
                found.append((name, "\n".join(body)))
            fence = name = ""
        else:
            body.append(line)
    return found, bool(name)


def _arguments(tool: ToolSpec, body: str) -> Mapping[str, Json]:
    """The arguments of a block: a JSON object, or the plain text of a tool's only argument."""
    raw = _raw_argument(tool)
    value = _json(body) if body.strip() else {}
    fits = isinstance(value, dict) and not misfit(tool, value)
    if raw and not fits and body.strip():
        return {raw: body}
    if not isinstance(value, dict):
        raise NoCall(
            f"The call of {tool.name} was not run: its arguments are no JSON object "
            '(newlines in a text are written \\n, quotes \\").'
        )
    return value


def _raw_argument(tool: ToolSpec) -> str:
    """The one argument a tool needs, where it is a text."""
    required, properties = tool.parameters.get("required"), tool.parameters.get("properties")
    if not isinstance(required, list | tuple) or len(required) != 1:
        return ""
    field = properties.get(str(required[0])) if isinstance(properties, Mapping) else None
    is_text = isinstance(field, Mapping) and field.get("type") == "string"
    return str(required[0]) if is_text else ""


def _alone(text: str) -> tuple[str, str]:
    """(name, JSON) of a text that is nothing but an object, a fence around one, or tags."""
    if text.startswith(("{", "[{")):
        return "", text
    if fenced := _FENCED_ALONE.fullmatch(text):
        return "", fenced[2].strip()
    for pattern in _TAGGED:
        if tagged := pattern.fullmatch(text):
            return tagged.groupdict().get("name") or "", tagged["body"].strip()
    return "", ""


def _named(value: Mapping[str, Json]) -> tuple[str, Json]:
    """(name, arguments) of an object in one of the forms that models use."""
    inner = value.get("function")
    if isinstance(inner, Mapping):
        value = inner
    given = [key for key in _ARGUMENTS if key in value]
    name = value.get("name")
    if not isinstance(name, str) or len(given) != 1:
        return "", None
    if set(value) - {"name", "id", "type", given[0]}:
        return "", None
    arguments = value[given[0]]
    return name, _json(arguments) if isinstance(arguments, str) else arguments


def _json(text: str) -> Json:
    """The value of a JSON text; `None` for anything else."""
    try:
        value: Json = json.loads(text, parse_constant=_refuse, strict=False)
    except (ValueError, RecursionError):
        return None
    return value


def _refuse(word: str) -> None:
    raise ValueError(word)


def _how(tools: Sequence[ToolSpec]) -> str:
    names = ", ".join(tool.name for tool in tools)
    return (
        f"Make one call, like this:\n```tool {tools[0].name}\n{_example(tools[0])}\n```\n"
        f"The tools are: {names}."
    )


def _example(tool: ToolSpec) -> str:
    required = tool.parameters.get("required")
    names = required if isinstance(required, list | tuple) else ()
    return json.dumps({str(name): "..." for name in names})
