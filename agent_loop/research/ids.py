"""arXiv identifiers: new style (`2401.01234v2`) and old (`hep-th/9901001`, `solv-int/9901001v2`).

An id is taken whole or not at all; plain ASCII digits and letters only.
"""

import re
from dataclasses import dataclass

NEW = r"[0-9]{4}\.[0-9]{4,5}"
OLD = r"[A-Za-z]{2,}(?:-[A-Za-z]+)?(?:\.[A-Za-z][A-Za-z-]+)?/[0-9]{7}"
ID = rf"(?:{NEW}|{OLD})(?:[vV][1-9][0-9]?)?(?![0-9A-Za-z_])(?!\.[0-9])"
"""One whole id; give it its own left edge."""

_WHOLE = re.compile(rf"(?P<base>{NEW}|{OLD})(?:[vV](?P<version>[1-9][0-9]?))?")
_ARXIV_PATH = re.compile(
    r"https?://(?:(?:www|export)\.)?arxiv\.org/(?:abs|pdf|html|format)/(?P<id>[^\s?#]+?)(?:\.pdf)?/?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, order=True)
class PaperId:
    """A paper, or one version of it."""

    base: str
    version: int | None = None
    """`None`: no version was named."""

    def __str__(self) -> str:
        return self.base if self.version is None else f"{self.base}v{self.version}"

    def meets(self, fetched: "PaperId") -> bool:
        """Whether citing this means the fetched version: same paper, same or no version named."""
        return self.base == fetched.base and self.version in (None, fetched.version)

    @property
    def url(self) -> str:
        """The paper's page."""
        return f"https://arxiv.org/abs/{self}"


def parse(text: str) -> PaperId | None:
    """The id `text` is, a link or an `arXiv:` prefix allowed; `None` where it is anything else."""
    text = text.strip()
    link = _ARXIV_PATH.fullmatch(text)
    if link:
        text = link["id"]
    elif text[:6].lower() == "arxiv:":
        text = text[6:].strip()
    match = _WHOLE.fullmatch(text)
    if match is None:
        return None
    return PaperId(_canonical(match["base"]), int(match["version"]) if match["version"] else None)


def _canonical(base: str) -> str:
    """Old ids: the archive in small letters, its subject class left out, as arXiv itself has it."""
    if "/" not in base:
        return base
    archive, number = base.split("/")
    return f"{archive.split('.')[0].lower()}/{number}"
