"""Git's quoting of file names in patches."""

import re

_PLAIN = {"\a": "a", "\b": "b", "\t": "t", "\n": "n", "\v": "v", "\f": "f", "\r": "r", '"': '"'}
_ESCAPE = re.compile(r'\\([0-7]{3}|[abtnvfr"\\])')
_BACK = {letter: char for char, letter in _PLAIN.items()} | {"\\": "\\"}


def quoted(path: str) -> str:
    """As git writes it; names with quotes, backslashes or control characters get C escapes."""
    if not any(char in '"\\' or ord(char) < 32 or ord(char) == 127 for char in path):
        return path
    out: list[str] = []
    for char in path:
        if char in _PLAIN:
            out.append("\\" + _PLAIN[char])
        elif char == "\\":
            out.append("\\\\")
        elif ord(char) < 32 or ord(char) == 127:
            out.append(f"\\{ord(char):03o}")
        else:
            out.append(char)
    return '"' + "".join(out) + '"'


def unquoted(text: str) -> str:
    """The name that `quoted` was given."""
    if not (len(text) >= 2 and text.startswith('"') and text.endswith('"')):
        return text
    return _ESCAPE.sub(_unescape, text[1:-1])


def _unescape(match: re.Match[str]) -> str:
    code = match.group(1)
    return _BACK[code] if code in _BACK else chr(int(code, 8))
