"""The programs that run inside the containers, read from this package as text."""

from dataclasses import replace
from functools import cache
from importlib import resources

from agent_loop.ports import Box, Limits, Program

PLACE = "agent_loop.checks.code.inside"
_WIRE = ("wire",)
_VALUES = (*_WIRE, "kinds", "values", "named", "link")
_ASSERTS = ("proxies", "marks", "asserts")
_JUDGE_LIFE_S = 7200.0
_JUDGE_OUTPUT_BYTES = 1 << 30


@cache
def _source(name: str) -> str:
    return resources.files(PLACE).joinpath(f"{name}.py").read_text(encoding="utf-8")


def _program(name: str, modules: tuple[str, ...]) -> Program:
    return Program(
        name=name,
        modules=tuple((f"{PLACE}.{module}", _source(module)) for module in modules),
        entry=f"{PLACE}.{modules[-1]}:main",
    )


def solution_box(limits: Limits) -> Box:
    """Where one solution answers one check."""
    return Box(program=_program("solution", (*_VALUES, "agent")), limits=limits)


def judge_box(limits: Limits) -> Box:
    """Where the asserts run; lives on from check to check."""
    program = _program(
        "judge", (*_VALUES, *_ASSERTS, "operators", "problems", "standins", "asker", "judge")
    )
    return Box(
        program=program,
        limits=replace(limits, output_bytes=_JUDGE_OUTPUT_BYTES, life_s=_JUDGE_LIFE_S),
    )


def shared_box(limits: Limits) -> Box:
    """Where solution and asserts share one process."""
    return Box(program=_program("shared", (*_VALUES, *_ASSERTS, "shared")), limits=limits)
