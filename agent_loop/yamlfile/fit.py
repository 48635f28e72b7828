"""Fits plain data into a pydantic model and says in words what does not fit, and where."""

import difflib
import re
import types
from collections.abc import Iterable, Mapping
from typing import Annotated, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from agent_loop.yamlfile.hints import QUOTES
from agent_loop.yamlfile.read import Document, KeyPath, YamlProblem

M = TypeVar("M", bound=BaseModel)

_WANTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a map",
    "model_type": "a map",
    "path_type": "a path",
}
_BRANCHES = frozenset({"bool_type", "string_type", "int_type", "float_type", "literal_error"})
_KIND = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "text",
    list: "a list",
    dict: "a map",
    type(None): "nothing",
}


def fit(document: Document, model: type[M]) -> M:
    """Make a `model` of the document.

    Raises:
        YamlProblem: the first thing that does not fit, unknown keys first (a misspelt key is also
            a missing one, and the misspelling is what helps).
    """
    try:
        return model.model_validate(document.data)
    except ValidationError as error:
        path, problem = first_problem(error, model)
        raise YamlProblem(document.line(*path), problem) from None


def first_problem(error: ValidationError, model: type[BaseModel]) -> tuple[KeyPath, str]:
    """Where the one thing worth telling is wrong, and what: plain English, no full stop."""
    errors = error.errors(include_url=False)
    first = min(errors, key=lambda e: (not _is_unknown(e), e["type"] != "missing"))
    path = _key_path(first)
    branches = [e for e in errors if _key_path(e) == path and e["type"] in _BRANCHES]
    if len(branches) > 1:
        wanted = dict.fromkeys(_WANTED.get(e["type"]) or e["ctx"]["expected"] for e in branches)
        either = " or ".join(wanted)
        return path, f"'{dotted(path)}' must be {either}, not {shown(first['input'])}"
    return path, _described(first, path, model)


def _key_path(error: ErrorDetails) -> KeyPath:
    """Where in the data the error lies; branches of a union are no part of that."""
    parts = tuple(part for part in error["loc"] if part != "[key]")
    if _is_unknown(error):
        return parts
    return tuple(part for part in parts if not _is_branch(part))


def _described(error: ErrorDetails, path: KeyPath, model: type[BaseModel]) -> str:
    name = dotted(path)
    if _is_unknown(error):
        known = known_keys(model, path[:-1])
        return f"unknown key '{name}'{nearest(str(path[-1]), known)}"
    if error["type"] == "missing":
        return f"'{name}' is missing"
    if error["type"] in _WANTED:
        meant = error["type"] == "string_type" and isinstance(error["input"], dict)
        hint = f" ({QUOTES}, or under '- |')" if meant else ""
        return f"'{name}' must be {_WANTED[error['type']]}, not {shown(error['input'])}{hint}"
    if error["type"] == "literal_error":
        expected = error["ctx"]["expected"]
        close = difflib.get_close_matches(
            str(error["input"]), re.findall(r"'([^']*)'", expected), 1
        )
        hint = f" (did you mean '{close[0]}'?)" if close else ""
        return f"'{name}' must be one of {expected}, not {shown(error['input'])}{hint}"
    if error["type"] in ("value_error", "assertion_error"):
        return f"'{name}' {error['ctx']['error']}" if name else str(error["ctx"]["error"])
    text = error["msg"].removeprefix("Input should be ")
    return f"'{name}' must be {text}, not {shown(error['input'])}"


def dotted(path: KeyPath) -> str:
    """`models.worker`, `tests[2]`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def nearest(word: str, known: Iterable[str]) -> str:
    """` (did you mean 'tests'?)`, else ` (known: ...)`."""
    names = sorted(known)
    close = difflib.get_close_matches(word, names, n=1, cutoff=0.6)
    if close:
        return f" (did you mean '{close[0]}'?)"
    return f" (known: {', '.join(names)})" if names else ""


def known_keys(model: type[BaseModel], path: KeyPath) -> tuple[str, ...]:
    """The keys a map at `path` may have."""
    inner: object = model
    for part in path:
        inner = _inner(inner, part)
    return _keys(inner)


def shown(value: object) -> str:
    """What kind of value it is, and a short look at it."""
    kind = _KIND.get(type(value), type(value).__name__)
    if value is None or isinstance(value, list | dict | tuple):
        return kind
    text = repr(value)
    return f"{kind} ({text if len(text) <= 60 else text[:57] + '...'})"


def _is_unknown(error: ErrorDetails) -> bool:
    return error["type"] == "extra_forbidden" or error["loc"][-1:] == ("[key]",)


def _is_branch(part: int | str) -> bool:
    return isinstance(part, str) and (part in ("bool", "none", "str") or part.endswith("]"))


def _inner(annotation: object, part: str | int) -> object:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        field = annotation.model_fields.get(str(part))
        return field.annotation if field else None
    origin = get_origin(annotation)
    if origin is Annotated:
        return _inner(get_args(annotation)[0], part)
    if origin in (Union, types.UnionType):
        found = (_inner(branch, part) for branch in get_args(annotation))
        return next((inner for inner in found if inner is not None), None)
    if origin in (dict, Mapping):
        return get_args(annotation)[1]
    if origin in (tuple, list):
        return get_args(annotation)[0]
    return None


def _keys(annotation: object) -> tuple[str, ...]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return tuple(annotation.model_fields)
    args = get_args(annotation)
    if get_origin(annotation) in (dict, Mapping) and get_origin(args[0]) is Literal:
        return tuple(str(key) for key in get_args(args[0]))
    if get_origin(annotation) in (Union, types.UnionType, Annotated):
        return next((keys for keys in map(_keys, args) if keys), ())
    return ()
