"""Which model each role gets, found out before the first call."""

from collections.abc import Mapping
from dataclasses import dataclass

from agent_loop.config import ModelSettings
from agent_loop.errors import ModelUnavailable, ServerDown
from agent_loop.models.asking import renamed
from agent_loop.models.make import Maker
from agent_loop.ports import Model, Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """A model for every configured role, each of which can be asked."""

    models: Mapping[Role, Model]
    notes: tuple[str, ...] = ()
    """Lines for the person, e.g. that a fallback stands in."""


def choose(
    wanted: Mapping[Role, ModelSettings],
    *,
    maker: Maker,
    fallback: Mapping[Role, ModelSettings] | None = None,
) -> Chosen:
    """Make and preflight the models of all roles; `fallback` where Ollama does not answer.

    A model that is missing on a server that answers is never replaced: the person can pull it.

    Raises:
        ModelUnavailable: every problem of every role in one message, what to type included.
    """
    models: dict[Role, Model] = {}
    replaced: dict[str, list[Role]] = {}
    problems: dict[str, None] = {}
    for role, settings in wanted.items():
        models[role] = maker.make(settings, role)
        try:
            models[role].preflight()
        except ServerDown as down:
            if settings.provider != "ollama" or not fallback or role not in fallback:
                problems[str(down)] = None
                continue
            models[role] = _stand_in(fallback[role], settings, role, maker)
            replaced.setdefault(f"{down} Using {fallback[role].name} instead", []).append(role)
        except ModelUnavailable as problem:
            problems[str(problem)] = None
    if problems:
        raise ModelUnavailable("\n".join(problems))
    notes = tuple(f"{line} for {', '.join(roles)}." for line, roles in replaced.items())
    return Chosen(models=models, notes=notes)


def _stand_in(
    settings: ModelSettings, instead_of: ModelSettings, role: Role, maker: Maker
) -> Model:
    model = renamed(maker.make(settings, role), instead_of.name)
    model.preflight()
    return model
