"""The first thing that runs inside: takes a program from the pipe and starts it.

This text is handed to the interpreter with `-c`, so it stands alone and imports nothing of ours.
It reads exactly the bundle: what follows on the pipe belongs to the program.
"""

import json
import linecache
import os
import sys
import traceback
import types


def exactly(count: int) -> bytes:
    """That many bytes of standard input; ends the process when nobody wants one any more."""
    got = bytearray()
    while len(got) < count:
        piece = os.read(0, min(count - len(got), 1 << 16))
        if not piece:
            os._exit(0)
        got += piece
    return bytes(got)


def install(name: str, source: str, *, package: bool) -> None:
    """Run one module's text and put it into `sys.modules`."""
    module = types.ModuleType(name)
    parent, _, leaf = name.rpartition(".")
    module.__dict__["__package__"] = name if package else parent
    module.__dict__["__file__"] = f"<{name}>"
    if package:
        module.__dict__["__path__"] = []
    lines = source.splitlines(keepends=True)
    linecache.cache[f"<{name}>"] = (len(source), None, lines, f"<{name}>")
    sys.modules[name] = module
    exec(compile(source, f"<{name}>", "exec"), module.__dict__)
    if parent in sys.modules:
        setattr(sys.modules[parent], leaf, module)


def boot() -> None:
    """Read the bundle, install its modules in order and call its entry."""
    bundle = json.loads(exactly(int.from_bytes(exactly(4), "big")))
    names = [name for name, _ in bundle["modules"]]
    for name, source in bundle["modules"]:
        install(name, source, package=any(other.startswith(name + ".") for other in names))
    module, _, function = bundle["entry"].partition(":")
    try:
        getattr(sys.modules[module], function)()
    except Exception:
        # The interpreter's own printer does not know lines that are in no file.
        traceback.print_exc()
        sys.exit(1)


if __name__ == "__main__":
    boot()
