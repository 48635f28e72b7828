"""`--model ROLE=PROVIDER:MODEL`, as every door takes it."""

from collections.abc import Iterator, Sequence

from agent_loop.ports import Role

ROLES: tuple[Role, ...] = ("lead", "worker", "reviewer", "escalation")


def role_models(given: Sequence[str]) -> Iterator[tuple[Role, str]]:
    """Role and model of each option, in order; `all` is every role but the escalation.

    Raises:
        ValueError: one is not `ROLE=PROVIDER:MODEL`; says what it must look like.
    """
    for text in given:
        role, equals, name = text.partition("=")
        if not equals or not name or role not in (*ROLES, "all"):
            raise ValueError(
                f"--model {text}: not ROLE=PROVIDER:MODEL. ROLE is one of {', '.join(ROLES)}, all; "
                "example: --model worker=ollama:qwen3:8b"
            )
        for one in ROLES:
            if one == role or (role == "all" and one != "escalation"):
                yield one, name
