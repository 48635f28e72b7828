"""The text of a PDF, page by page, read by pypdf in a child process with limits of its own.

A PDF from the network can keep a parser busy for ever; a child can be killed. pypdf is pure
Python (BSD licence, released monthly) and comes with the extra `fulltext`.
"""

import json
import sys
from importlib.util import find_spec

from agent_loop import procs

READ_S = 120.0
MAX_PAGES = 60
MAX_PAGE_CHARS = 12_000
MAX_OUTPUT_BYTES = 8 << 20

# Runs by itself: it imports nothing of ours. Exit code 3: pypdf refused the file.
_PROGRAM = f"""
import io, json, sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    resource.setrlimit(resource.RLIMIT_CPU, (100, 100))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
except (ImportError, ValueError, OSError):
    pass
from pypdf import PdfReader
try:
    pages = []
    for page in PdfReader(io.BytesIO(sys.stdin.buffer.read())).pages:
        pages.append(page.extract_text()[:{MAX_PAGE_CHARS}])
        if len(pages) == {MAX_PAGES}:
            break
except Exception as error:
    sys.stderr.write(type(error).__name__ + ": " + str(error)[:300])
    sys.exit(3)
sys.stdout.write(json.dumps(pages))
"""


class UnreadablePdf(ValueError):
    """No text could be taken out of it; the message says why."""


def installed() -> bool:
    """Whether full texts can be read here."""
    return find_spec("pypdf") is not None


def pages_of(pdf: bytes) -> tuple[str, ...]:
    """The text of each page, at most 60 pages of 12,000 characters.

    Raises:
        UnreadablePdf: it is no PDF, it is encrypted or damaged, or reading it took too long.
    """
    done = procs.run(
        [sys.executable, "-I", "-c", _PROGRAM],
        input=pdf,
        timeout_s=READ_S,
        max_output_bytes=MAX_OUTPUT_BYTES,
    )
    if done.timed_out:
        raise UnreadablePdf(f"reading it took longer than {READ_S:g} s")
    if done.code != 0:
        said = done.err.decode("utf-8", "replace").strip().splitlines()
        raise UnreadablePdf(f"pypdf cannot read it ({said[-1][:200] if said else done.code})")
    try:
        pages = json.loads(done.out)
    except ValueError:
        raise UnreadablePdf(f"its text is longer than {MAX_OUTPUT_BYTES >> 20} MiB") from None
    clean = tuple(str(page).encode("utf-8", "replace").decode() for page in pages)
    if not any(page.strip() for page in clean):
        raise UnreadablePdf("it holds no text (scanned pages?)")
    return clean
