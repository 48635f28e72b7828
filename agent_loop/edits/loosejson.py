"""JSON as small models write it: inside chatter, with commas, quotes and brackets amiss."""

import json
import re
from collections.abc import Iterator

Value = None | bool | int | float | str | list["Value"] | dict[str, "Value"]

_MAX_DEPTH = 40
_SPACE = re.compile(r"(?:\s|//[^\n]*|/\*(?:[^*]|\*(?!/)){0,2000}\*/)*")
_BARE = re.compile(r"[^\s,:{}\[\]\"']{1,100}")
_KEY = r"(?:[\"'][^\"'\n]{1,60}[\"']|[A-Za-z_]\w{0,40})\s*[:=]"
_AFTER_FIELD = re.compile(rf"\s*(?:$|[}}\]]|,\s*(?:$|[}}\]]|//|/\*|{_KEY})|(?!,)(?:{_KEY}))")
_AFTER_ITEM = re.compile(r"\s*(?:$|[}\]]|,\s*(?:$|[\"'{\[}\]]|//))")
_AFTER_KEY = re.compile(r"\s*:")
_NEXT_KEY = re.compile(r",\s*[\"']?[A-Za-z_][\w ]{0,40}[\"']\s*$")
_WORDS: dict[str, Value] = {
    "true": True, "True": True, "false": False, "False": False,
    "null": None, "None": None, "undefined": None,
}  # fmt: skip
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


def values_in(text: str) -> Iterator[tuple[Value, bool, int]]:
    """Objects and lists in a text, outermost first: (value, was it repaired, where it begins)."""
    strict = json.JSONDecoder(strict=False)
    budget = 2 * len(text) + 10_000
    at = _next_start(text, 0)
    while at >= 0 and budget > 0:
        try:
            value, end = strict.raw_decode(text, at)
            yield value, False, at
        except (ValueError, RecursionError) as problem:
            reader = _Reader(text, at)
            value = reader.read()
            budget -= reader.at - at + getattr(problem, "pos", len(text)) - at + 100
            end = at + 1
            if isinstance(value, dict | list) and value:
                end = max(reader.at, end)
                yield value, True, at
        at = _next_start(text, end)


def _next_start(text: str, at: int) -> int:
    brace, bracket = text.find("{", at), text.find("[", at)
    return min(brace, bracket) if brace >= 0 and bracket >= 0 else max(brace, bracket)


class _Reader:
    """Reads one value and forgives; never looks at a character more than a few times."""

    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at
        self.depth = 0
        self.in_list = False

    def read(self) -> Value:
        self._skip()
        char = self.text[self.at : self.at + 1]
        if self.depth > _MAX_DEPTH:
            self.at = len(self.text)
            return None
        if char in {"{", "["}:
            outer, self.in_list = self.in_list, char == "["
            self.depth += 1
            value: Value = self._list() if self.in_list else self._object()
            self.depth -= 1
            self.in_list = outer
            return value
        if char in {'"', "'", "`"} and char:
            return self._string(char, key=False)
        return self._word()

    def _skip(self) -> None:
        match = _SPACE.match(self.text, self.at)
        self.at = match.end() if match else self.at

    def _object(self) -> dict[str, Value]:
        self.at += 1
        found: dict[str, Value] = {}
        while self.at < len(self.text):
            self._skip()
            char = self.text[self.at : self.at + 1]
            if char == "}":
                self.at += 1
                break
            if char in {"]", ""}:
                break
            if char == ",":
                self.at += 1
                continue
            if char in {"{", "["}:
                # A value without a key: the depth limit ends a text of nothing but braces.
                found[""] = self.read()
                continue
            before = self.at
            key = self._string(char, key=True) if char in {'"', "'"} else str(self._word())
            self._skip()
            if self.text[self.at : self.at + 1] in {":", "="}:
                self.at += 1
                found[key] = self.read()
            elif self.at == before:
                self.at += 1
        return found

    def _list(self) -> list[Value]:
        self.at += 1
        found: list[Value] = []
        while self.at < len(self.text):
            self._skip()
            char = self.text[self.at : self.at + 1]
            if char == "]":
                self.at += 1
                break
            if char in {"}", ""}:
                break
            if char in {",", ":"}:
                self.at += 1
                continue
            before = self.at
            found.append(self.read())
            self.at = max(self.at, before + 1)
        return found

    def _word(self) -> Value:
        match = _BARE.match(self.text, self.at)
        if match is None:
            return None
        self.at = match.end()
        word = match.group()
        if self.text[self.at : self.at + 1] in {'"', "'"} and self._closes(key=False):
            self.at += 1
        if word in _WORDS:
            return _WORDS[word]
        try:
            return int(word)
        except ValueError:
            return word

    def _string(self, quote: str, *, key: bool) -> str:
        if self.text.startswith(quote * 3, self.at):
            return self._long_string(quote * 3)
        self.at += 1
        out: list[str] = []
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == "\\":
                out.append(self._escape())
            elif char == quote and self._closes(key=key):
                self.at += 1
                return "".join(out)
            elif char == quote and not key and _AFTER_KEY.match(self.text, self.at + 1):
                cut = self._missed_quote("".join(out[-80:]) + char)
                if cut:
                    # The quote that should have closed this value is missing: give the key back.
                    self.at -= cut - 1
                    return "".join(out)[: 1 - cut or None].rstrip()
                out.append(char)
                self.at += 1
            else:
                out.append(char)
                self.at += 1
        return "".join(out)

    def _closes(self, *, key: bool) -> bool:
        after = _AFTER_ITEM if self.in_list else _AFTER_FIELD
        return bool((_AFTER_KEY if key else after).match(self.text, self.at + 1))

    def _missed_quote(self, tail: str) -> int:
        """Characters back to the comma before a key that stands inside this string; 0: none."""
        match = _NEXT_KEY.search(tail)
        return len(tail) - match.start() if match else 0

    def _long_string(self, quotes: str) -> str:
        start = self.at + 3
        end = self.text.find(quotes, start)
        self.at = len(self.text) if end < 0 else end + 3
        return self.text[start : end if end >= 0 else len(self.text)].removeprefix("\n")

    def _escape(self) -> str:
        char = self.text[self.at + 1 : self.at + 2]
        self.at += 2
        if char == "u":
            digits = self.text[self.at : self.at + 4]
            if re.fullmatch(r"[0-9a-fA-F]{4}", digits):
                self.at += 4
                return chr(int(digits, 16))
            return "\\u"
        if char in _ESCAPES:
            return _ESCAPES[char]
        return char if char in {'"', "'", "\\", "/", "`"} else "\\" + char
