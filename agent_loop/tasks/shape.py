"""What may stand in a task file of each kind."""

import ast
import re
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from agent_loop import syntax

_STRICT = ConfigDict(extra="forbid", frozen=True, strict=True)
MAX_TEXT_CHARS = 100_000
MAX_TESTS = 2_000


def _as_tuple(data: object) -> object:
    return tuple(data) if isinstance(data, list) else data


def _said(text: str) -> str:
    if not text.strip():
        raise ValueError("is empty; say in words what is wanted")
    if len(text) > MAX_TEXT_CHARS:
        raise ValueError(f"has {len(text):,} characters; {MAX_TEXT_CHARS:,} is the most")
    return text.strip()


def _python(text: str) -> str:
    try:
        syntax.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        what = str(error.msg if isinstance(error, SyntaxError) else error)
        cut = " (YAML ends text at ' #': write it under '- |')" if "unterminated" in what else ""
        raise ValueError(f"is not valid Python: {what}{cut}") from None
    return text


def _asserts(text: str) -> str:
    tree = syntax.parse(_python(text))
    asserts = _asserts_in(tree)
    if not asserts:
        raised = " (an error is expected with try, except, else: assert False)"
        raise ValueError(
            f"holds no assert, so it can never fail{raised if '.raises' in text else ''}"
        )
    if any(isinstance(one.test, ast.Tuple) and one.test.elts for one in asserts):
        raise ValueError("asserts a tuple, which is always true; take the brackets away")
    return text


def _asserts_in(tree: ast.AST) -> list[ast.Assert]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.Assert)]


def idle(test: str, everything: Sequence[str]) -> str:
    """The function that holds all asserts of a test and that nothing of the task ever names."""
    holding = [node for node in syntax.parse(test).body if _asserts_in(node)]
    said = {
        getattr(node, "id", getattr(node, "attr", ""))
        for text in everything
        for node in ast.walk(syntax.parse(text))
    }
    idle = [
        node.name
        for node in holding
        if isinstance(node, ast.FunctionDef) and not node.decorator_list and node.name not in said
    ]
    return idle[0] if len(idle) == len(holding) else ""


def _some(tests: tuple[str, ...]) -> tuple[str, ...]:
    if not tests:
        raise ValueError("is empty; give at least one assert, e.g. 'assert f(1) == 2'")
    if len(tests) > MAX_TESTS:
        raise ValueError(f"has {len(tests):,} entries; {MAX_TESTS:,} is the most")
    return tests


def _plain_name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,59}", text):
        raise ValueError(
            f"must be 1 to 60 letters, digits, '.', '_' or '-' (no '/'), not {text[:70]!r}"
        )
    return text


def _requirement(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*(\[[A-Za-z0-9._,-]+\])?\s*==\s*[\w.!+]+", text):
        raise ValueError(f"must be pinned, e.g. six==1.17.0, not {text[:70]!r}")
    return text


Said = Annotated[str, AfterValidator(_said)]
Name = Annotated[str, AfterValidator(_plain_name)]
Texts = Annotated[tuple[str, ...], BeforeValidator(_as_tuple)]
Assert = Annotated[str, AfterValidator(_asserts)]
Asserts = Annotated[tuple[Assert, ...], BeforeValidator(_as_tuple)]
Requirement = Annotated[str, AfterValidator(_requirement)]


class CodeShape(BaseModel):
    """A code task's file."""

    model_config = _STRICT

    type: Literal["code"] = "code"
    name: Name | None = None
    task: Said
    tests: Annotated[Asserts, AfterValidator(_some)]
    hidden_tests: Asserts = ()
    helpers: Annotated[str, AfterValidator(_python)] = ""
    isolation: Literal["separate", "shared"] | None = None


class ProjectShape(BaseModel):
    """A project task's file. Paths are relative to it."""

    model_config = _STRICT

    type: Literal["project"]
    name: Name | None = None
    task: Said
    project: str = Field(min_length=1)
    test_command: str = Field(default="pytest -q", min_length=1, max_length=2000)
    requirements: Annotated[tuple[Requirement, ...], BeforeValidator(_as_tuple)] = ()
    pytest_plugins: Texts = ()
    python_path: Texts = ()
    install: Literal["none", "editable"] = "none"
    protected: Texts = ()
    allow_test_edits: bool = False
    fail_to_pass: Texts = ()
    pass_to_pass: Texts = ()
    hidden_tests: str | None = None
    allow_green_start: bool = False
    dockerfile: str | None = None


class ResearchShape(BaseModel):
    """A research task's file. Paths are relative to it."""

    model_config = _STRICT

    type: Literal["research"]
    name: Name | None = None
    task: Said
    query: str = Field(min_length=1, max_length=4000)
    max_papers: int = Field(default=10, ge=1, le=30)
    papers: str | None = None
    full_text: bool = False
    numbers: Literal["check", "ignore"] = "check"
    base_url: str | None = None
