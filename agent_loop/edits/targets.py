"""Which file a path in a reply means, and which paths are refused outright."""

import difflib
import re
import unicodedata
from collections.abc import Callable, Collection, Mapping
from functools import cached_property

from agent_loop.errors import ReplyError

MAX_PATH_CHARS = 400
MAX_GUESSES = 10
_RESERVED = re.compile(
    r"^(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])$", re.IGNORECASE
)
_FORBIDDEN = frozenset('<>:"|?*\\')
_COMMON_NAMES = frozenset({"__init__.py", "__main__.py", "conftest.py", "index.js", "mod.rs"})


class BadPath(ReplyError):
    """A path that no reply may name: the whole reply is refused."""


def refuse_bad_path(path: str) -> None:
    """Refuse a relative path that could leave the copy, or means another file elsewhere.

    Raises:
        BadPath: with the reason.
    """
    reason = _why_bad(path)
    if reason:
        raise BadPath(
            f"Bad path {path[:120]!r}: {reason}. Nothing of this reply was applied; "
            "name files by their path relative to the project."
        )


def _why_bad(path: str) -> str:
    if not path or path in {".", "/"}:
        return "it names no file"
    if len(path) > MAX_PATH_CHARS:
        return "it is too long"
    if any(unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"} for char in path):
        return "it holds a control character"
    if path.startswith(("/", "\\", "~")) or re.match(r"^[A-Za-z]:", path):
        return "it is absolute"
    for part in path.replace("\\", "/").split("/"):
        reason = _why_bad_part(part)
        if reason:
            return reason
    if _FORBIDDEN.intersection(path):
        return "it holds a character that some systems forbid in names"
    return ""


def _why_bad_part(part: str) -> str:
    plain = _plain(part)
    if part in {"", ".", ".."}:
        return f"the part {part!r} leads elsewhere"
    if plain in {".git", "git~1"} or plain.startswith((".git:", ".git\\")):
        return "it leads into .git"
    if part != part.rstrip(". "):
        return "a part ends in a dot or a blank"
    if part != part.lstrip(" "):
        return "a part begins with a blank"
    if _RESERVED.match(part.split(".")[0].rstrip(" ")):
        return f"{part!r} is a device name on Windows"
    if len(part.encode("utf-8", "replace")) > 240:
        return "a part is too long"
    return ""


def _plain(part: str) -> str:
    """As file systems that fold case and ignore invisible characters see it."""
    folded = unicodedata.normalize("NFKC", part).casefold()
    visible = "".join(char for char in folded if unicodedata.category(char) != "Cf")
    return visible.rstrip(". ")


class Known:
    """The files there are, and how a path from a reply finds one of them."""

    def __init__(
        self,
        files: Mapping[str, bytes],
        protected: Callable[[str], bool],
        symlinks: Collection[str] = (),
    ) -> None:
        self.files = files
        self.protected = protected
        self.symlinks = frozenset(symlinks)
        self._guesses = 0

    @cached_property
    def _by_fold(self) -> dict[str, list[str]]:
        table: dict[str, list[str]] = {}
        for path in self.files:
            table.setdefault(_folded(path), []).append(path)
        return table

    @cached_property
    def _by_name(self) -> dict[str, list[str]]:
        table: dict[str, list[str]] = {}
        for path in self.files:
            table.setdefault(path.rpartition("/")[2], []).append(path)
        return table

    @cached_property
    def _folders(self) -> dict[str, str]:
        """Every folder by its folded name."""
        table: dict[str, str] = {}
        for path in self.files:
            folder = path.rpartition("/")[0]
            while folder and _folded(folder) not in table:
                table[_folded(folder)] = folder
                folder = folder.rpartition("/")[0]
        return table

    def begins_with(self, path: str | None, line: str) -> bool:
        """The first line of a file is this one."""
        data = self.files.get(path or "", b"")
        return data.split(b"\n", 1)[0].decode("utf-8", "replace").strip() == line.strip()

    def find(self, path: str) -> str | None:
        """The one existing file that a path means: itself or the only near one."""
        if path in self.files:
            return path
        tries = (self._longer_or_shorter, self._same_but_case, self._misspelt)
        for attempt in tries:
            near = attempt(path.replace("\\", "/").removeprefix("./"))
            if len(near) == 1:
                return near[0]
            if near:
                return None
        return None

    def find_for_whole(self, path: str) -> str | None:
        """As `find`, but a new name stays new: no guessing at spelling or common names."""
        if path in self.files:
            return path
        plain = path.replace("\\", "/").removeprefix("./")
        near = self._longer_or_shorter(plain) or self._same_but_case(plain)
        if plain in _COMMON_NAMES and plain not in self.files:
            return None
        return near[0] if len(near) == 1 else None

    def _longer_or_shorter(self, path: str) -> list[str]:
        """`a/pkg/x.py` or `x.py` for `pkg/x.py`."""
        if path in self.files:
            return [path]
        same_name = self._by_name.get(path.rpartition("/")[2], [])
        return [
            known for known in same_name if path.endswith("/" + known) or known.endswith("/" + path)
        ]

    def _same_but_case(self, path: str) -> list[str]:
        return self._by_fold.get(_folded(path), [])

    def _misspelt(self, path: str) -> list[str]:
        # Comparing spellings is slow, and a reply full of wrong names is not worth it.
        self._guesses += 1
        if self._guesses > MAX_GUESSES:
            return []
        folder, _, name = path.rpartition("/")
        suffix = name.rpartition(".")[2]
        siblings = [
            known
            for known in self.files
            if known.rpartition("/")[0] == folder and known.endswith("." + suffix)
        ][:500]
        return difflib.get_close_matches(path, siblings, n=2, cutoff=0.88)

    def refuse_new(self, path: str) -> None:
        """Refuse a new file that another spelling of an existing file or folder would swallow.

        Raises:
            BadPath: the case differs, a file stands where a folder is meant, or a symlink.
        """
        refuse_bad_path(path)
        parts = path.split("/")
        for depth in range(1, len(parts) + 1):
            part = "/".join(parts[:depth])
            if part in self.symlinks:
                raise BadPath(f"Bad path {path!r}: {part!r} is a symbolic link.")
            if depth < len(parts) and part in self.files:
                raise BadPath(f"Bad path {path!r}: {part!r} is a file, not a folder.")
        folder = path.rpartition("/")[0]
        there = self._folders.get(_folded(folder), folder)
        if there != folder:
            raise BadPath(f"Bad path {path!r}: the folder is written {there!r}.")
        if self._folders.get(_folded(path)) is not None:
            raise BadPath(f"Bad path {path!r}: it is a folder.")
        same = [known for known in self._same_but_case(path) if known != path]
        if same:
            raise BadPath(f"Bad path {path!r}: the file is written {same[0]!r}.")

    def some(self) -> str:
        """A list of files for feedback."""
        names = sorted(path for path in self.files if not self.protected(path))
        shown = ", ".join(names[:20])
        return shown + (f" and {len(names) - 20} more" if len(names) > 20 else "")


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()
