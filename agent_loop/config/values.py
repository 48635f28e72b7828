"""What single values of a configuration must look like, and what is said when they do not."""

import re
from pathlib import Path
from typing import Annotated, Literal, TypeVar, get_args

from pydantic import AfterValidator, BeforeValidator

from agent_loop.ports import Role
from agent_loop.yamlfile import nearest

Provider = Literal["ollama", "openai", "anthropic", "embedded", "scripted", "replay"]
PROVIDERS: tuple[str, ...] = get_args(Provider)
ServerProvider = Literal["ollama", "openai", "anthropic"]

_DIGEST = re.compile(r"([a-z0-9._/:-]+@)?sha256:[0-9a-f]{64}")


def split_model(text: str) -> tuple[str, str]:
    """`ollama:qwen3:8b` -> (`ollama`, `qwen3:8b`).

    Raises:
        ValueError: no `provider:model`, or a provider nobody knows.
    """
    provider, colon, model = text.partition(":")
    if not colon or not model.strip() or model != model.strip():
        raise ValueError(f"must be provider:model, e.g. ollama:qwen3:8b, not {text!r}")
    if provider not in PROVIDERS:
        raise ValueError(f"names the unknown provider '{provider}'{nearest(provider, PROVIDERS)}")
    return provider, model


def _checked_model(text: str) -> str:
    split_model(text)
    return text


def _pinned(image: str) -> str:
    if not _DIGEST.fullmatch(image):
        raise ValueError(
            f"must name an image by digest or id (sha256:<64 hex digits>), never by tag: {image!r}"
        )
    return image


def _server(url: str) -> str:
    if not re.fullmatch(r"https?://[^\s]+", url):
        raise ValueError(f"must start with http:// or https://, not {url!r}")
    return url


def _without_nothing(data: object) -> object:
    """A line set to nothing is a line deleted: so a patch can turn escalation off."""
    return {k: v for k, v in data.items() if v is not None} if isinstance(data, dict) else data


def _every_role(models: dict[Role, str]) -> dict[Role, str]:
    missing = [role for role in ("lead", "worker", "reviewer") if role not in models]
    if missing:
        raise ValueError(f"has no line for {' and '.join(missing)}, e.g. lead: ollama:qwen3:8b")
    return models


def _database(text: str) -> str:
    """Never quotes the text: a password may stand in it."""
    if text == "sqlite":
        return text
    if not re.fullmatch(r"postgres(ql)?://\S+", text):
        raise ValueError("must be sqlite or postgresql://[user@]host[:port]/database")
    if re.search(r"[?&](password|sslpassword)=", text):
        raise ValueError("must not hold a password after '?': use PGPASSWORD or ~/.pgpass")
    return text


def _as_tuple(data: object) -> object:
    return tuple(data) if isinstance(data, list) else data


def _as_path(data: object) -> object:
    return Path(data) if isinstance(data, str) and data else data


ModelName = Annotated[str, AfterValidator(_checked_model)]
Url = Annotated[str, AfterValidator(_server)]
Image = Annotated[str, AfterValidator(_pinned)]
Database = Annotated[str, AfterValidator(_database)]
Folder = Annotated[Path, BeforeValidator(_as_path)]
Cast = Annotated[
    dict[Role, ModelName], BeforeValidator(_without_nothing), AfterValidator(_every_role)
]
T = TypeVar("T")
Several = Annotated[tuple[T, ...], BeforeValidator(_as_tuple)]
"""A list of a file; it stays as it is."""
