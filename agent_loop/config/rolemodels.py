"""`--model ROLE=PROVIDER:MODEL`, as every door takes it."""

from collections.abc import Iterator, Sequence

from agent_loop.errors import BadOption
from agent_loop.ports import Role

ROLES: tuple[Role, ...] = ("lead", "worker", "reviewer", "escalation")


def model_sets(given: Sequence[str]) -> list[str]:
    """What `--set` would say for each option, in order; `all` is every role but the escalation.

    Raises:
        BadOption: one is not `ROLE=PROVIDER:MODEL`; says what it must look like.
    """
    return [f"models.{role}={_quoted(name)}" for role, name in _named(given)]


def _named(given: Sequence[str]) -> Iterator[tuple[Role, str]]:
    for text in given:
        role, equals, name = text.partition("=")
        if not equals or not name or role not in (*ROLES, "all"):
            raise BadOption(
                f"--model {text}: not ROLE=PROVIDER:MODEL. ROLE is one of {', '.join(ROLES)}, all; "
                "example: --model worker=ollama:qwen3:8b"
            )
        for one in ROLES:
            if one == role or (role == "all" and one != "escalation"):
                yield one, name


def _quoted(name: str) -> str:
    """A setting is YAML: ` #`, `: ` and braces in a file's name would be its own signs."""
    return "'" + name.replace("'", "''") + "'"
