"""Reads the few options that matter here, looks, and prints."""

import argparse
import io
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TextIO

from agent_loop import config
from agent_loop.assemble import Workshop
from agent_loop.doctor.looks import Found, looks
from agent_loop.errors import AgentLoopError
from agent_loop.paths import named
from agent_loop.store import RunStore

_WORDS = {True: "ok   ", False: "WRONG", None: "note "}
_WORST_FIRST = (2, 3, 4, 1)


def main(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """Look at everything; 0 if a run can start, else the code a run would end with."""
    given = _read(argv)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="replace")
    out = sys.stdout
    try:
        settings = config.load(config.base_file(Path()), env, given.sets, given.configs)
    except AgentLoopError as error:
        _say(Found(what="config", ok=False, detail=str(error)), out, as_json=given.json)
        return error.exit_code
    codes: set[int] = set()

    def notify(line: str) -> None:
        _say(Found(what="sandbox", ok=None, detail=line), out, as_json=given.json)

    store = RunStore(settings.runs_dir)
    with Workshop(config=settings, store=store, notify=notify, env=env) as workshop:
        for look in looks(workshop, env):
            for found in look():
                _say(found, out, as_json=given.json)
                if found.ok is False:
                    codes.add(found.exit_code)
    return next((code for code in _WORST_FIRST if code in codes), 0)


def _read(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="loop.py --doctor", allow_abbrev=False)
    parser.add_argument("--doctor", action="store_true", required=True)
    parser.add_argument("--set", action="append", default=[], dest="sets", metavar="KEY=VALUE")
    parser.add_argument("--config", action="append", default=[], dest="configs", type=named)
    parser.add_argument("--json", action="store_true")
    return parser.parse_args(argv)


def _say(found: Found, out: TextIO, *, as_json: bool) -> None:
    if as_json:
        out.write(json.dumps(asdict(found)) + "\n")
    else:
        fix = f" {found.fix}" if found.fix else ""
        # A server's answer may stand in the detail: nothing in it may act on the terminal.
        line = " ".join(f"{_WORDS[found.ok]} {found.what}: {found.detail}{fix}".splitlines())
        out.write("".join(c if c.isprintable() else "?" for c in line) + "\n")
    out.flush()
