"""The tools as models are told of them, and their arguments looked over."""

from collections.abc import Mapping
from typing import Any

from agent_loop.ports import Json, ToolCall, ToolSpec

SUBMIT = "submit"
_TYPES: Mapping[str, type] = {"string": str, "integer": int}


class BadCall(Exception):
    """The call cannot be done as it is written; the text is for the model."""


def _spec(name: str, description: str, required: str = "", **parameters: Json) -> ToolSpec:
    return ToolSpec(
        name=name,
        description=description,
        parameters={
            "type": "object",
            "properties": parameters,
            "required": required.split(),
            "additionalProperties": False,
        },
    )


def _text(description: str) -> Json:
    return {"type": "string", "description": description}


def _number(description: str) -> Json:
    return {"type": "integer", "description": description}


BASH = _spec(
    "bash",
    "Run a command with bash in the project's folder. Each call is a shell of its own: folder and "
    "variables are not kept, files are. Programs that still run when the command ends are stopped. "
    "There is no network and no git. Tests and configuration are read-only. "
    "When the task is done, run the command: submit",
    "command",
    command=_text("The command line."),
)
VIEW = _spec(
    "view",
    "Show a file with line numbers, or the names in a folder.",
    "path",
    path=_text("Path in the project, e.g. src/app.py; . is the project."),
    start=_number("First line to show, from 1."),
    end=_number("Last line to show."),
)
SEARCH = _spec(
    "search",
    "Find lines by a regular expression (Python's) in the project's text files.",
    "pattern",
    pattern=_text("The regular expression."),
    path=_text("A file or folder to search in; the whole project where it is left out."),
)
STR_REPLACE = _spec(
    "str_replace",
    "Replace a text in a file. The old text must stand in the file exactly once, blanks included "
    "and without line numbers.",
    "path old new",
    path=_text("Path of the file in the project."),
    old=_text("The text as it is now; some lines around it make it the only one."),
    new=_text("The text as it should be."),
)
CREATE = _spec(
    "create",
    "Write a whole file: a new one, or in place of the old one.",
    "path content",
    path=_text("Path of the file in the project."),
    content=_text("Everything that is to stand in the file."),
)
RUN_TESTS = _spec(
    "run_tests",
    "Run the project's tests, all of them or some.",
    tests=_text("Test ids or files, with blanks between; all tests where it is left out."),
)
DONE = _spec(SUBMIT, "Say that the task is done. Nothing can be changed after that.")
STRUCTURED = (VIEW, SEARCH, STR_REPLACE, CREATE, RUN_TESTS, DONE)


def arguments(call: ToolCall, specs: tuple[ToolSpec, ...]) -> dict[str, Any]:
    """The arguments of a call, each of the type its tool wants.

    Raises:
        BadCall: no such tool, a name it does not know, a missing or wrong value.
    """
    spec = next((one for one in specs if one.name == call.name), None)
    if spec is None:
        names = ", ".join(one.name for one in specs)
        raise BadCall(f"There is no tool {call.name[:80]!r}. The tools are: {names}.")
    wanted: Any = spec.parameters
    known, needed = wanted["properties"], wanted["required"]
    for name in call.arguments:
        if name not in known:
            raise BadCall(f"{spec.name} has no argument {name[:80]!r}. {_usage(known, needed)}")
    for name in needed:
        if call.arguments.get(name) is None:
            raise BadCall(f"{spec.name} needs the argument {name!r}. {_usage(known, needed)}")
    given = {name: value for name, value in call.arguments.items() if value is not None}
    return {name: _fitting(spec.name, name, known[name], value) for name, value in given.items()}


def _fitting(tool: str, name: str, schema: Mapping[str, str], value: Json) -> object:
    wanted = schema["type"]
    if wanted == "integer" and isinstance(value, str) and value.strip().isdecimal():
        return int(value[:9])
    if isinstance(value, bool) or not isinstance(value, _TYPES[wanted]):
        raise BadCall(f"{tool}: {name!r} must be {wanted}, not {type(value).__name__}.")
    if isinstance(value, str) and "\0" in value:
        raise BadCall(f"{tool}: {name!r} holds a NUL character.")
    return value


def _usage(known: Mapping[str, Json], needed: list[str]) -> str:
    names = [name if name in needed else f"{name} (may be left out)" for name in known]
    return f"Its arguments: {', '.join(names) or 'none'}."
