"""The first thing that runs inside: takes a program from the pipe and starts it.

This text is handed to the interpreter with `-c`, so it stands alone and imports nothing of ours.
It reads exactly the bundle: what follows on the pipe belongs to the program.
"""

import os
import sys
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
    sys.modules[name] = module
    exec(compile(source, f"<{name}>", "exec"), module.__dict__)
    if parent in sys.modules:
        setattr(sys.modules[parent], leaf, module)


def texts() -> list[str]:
    """The bundle: a count, then that many texts, each after its length in bytes."""
    count = int.from_bytes(exactly(4), "big")
    return [exactly(int.from_bytes(exactly(4), "big")).decode("utf-8") for _ in range(count)]


def tell(modules: dict[str, str]) -> None:
    """Print the exception in hand; the interpreter does not know lines that are in no file."""
    # Imported here: every container waits for what is imported above, and few get this far.
    import linecache  # noqa: PLC0415
    import traceback  # noqa: PLC0415

    for name, source in modules.items():
        lines = source.splitlines(keepends=True)
        linecache.cache[f"<{name}>"] = (len(source), None, lines, f"<{name}>")
    traceback.print_exc()


def boot() -> None:
    """Read the bundle, install its modules in order and call its entry."""
    entry, *rest = texts()
    modules = dict(zip(rest[::2], rest[1::2], strict=True))
    try:
        for name, source in modules.items():
            install(name, source, package=any(n.startswith(name + ".") for n in modules))
        module, _, function = entry.partition(":")
        getattr(sys.modules[module], function)()
    except Exception:
        tell(modules)
        sys.exit(1)


if __name__ == "__main__":
    boot()
