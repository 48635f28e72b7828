"""Fuzzes the parsers: `python -m tests.fuzz --minutes N [--only TARGET]`, N minutes for each.

Each target runs in a process of its own under atheris, with the package's branches watched. A crash
is kept as a file in the folder of `--found` and named at the end; the corpus is thrown away unless
`--keep` says where it goes. Mend the kind of fault and put the file into tests/fuzz/corpus/TARGET/.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"
MAX_BYTES = 4_096


def child(name: str, seconds: int, corpus: str, found: str) -> None:
    """What one process does until it is over or crashes."""
    import atheris

    with atheris.instrument_imports(include=["agent_loop"]):
        from tests.fuzz.targets import TARGETS
    argv = [
        "fuzz", corpus, f"-max_total_time={seconds}", f"-max_len={MAX_BYTES}", "-timeout=20",
        "-rss_limit_mb=2048", f"-artifact_prefix={found}/{name}-", "-print_final_stats=1",
    ]  # fmt: skip
    atheris.Setup(argv, TARGETS[name])
    atheris.Fuzz()


def fuzz(name: str, seconds: int, found: Path, keep: Path | None) -> dict[str, object]:
    """One target; how many inputs it took, and the crash where there was one."""
    from tests.fuzz.targets import SEEDS

    with tempfile.TemporaryDirectory() as corpus:
        for number, seed in enumerate(SEEDS.get(name, ())):
            Path(corpus, f"seed-{number}").write_bytes(seed)
        for path in (CORPUS / name).glob("*"):
            shutil.copy(path, corpus)
        began = time.monotonic()
        argv = [
            sys.executable,
            "-m",
            "tests.fuzz",
            "--child",
            name,
            str(seconds),
            corpus,
            str(found),
        ]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=seconds + 300)
        if keep:
            shutil.copytree(corpus, keep / name, dirs_exist_ok=True)
    said = done.stderr + done.stdout
    execs = [line.split()[-1] for line in said.splitlines() if "number_of_executed_units" in line]
    cover = [line for line in said.splitlines() if " cov: " in line][-1:]
    report: dict[str, object] = {
        "target": name,
        "seconds": round(time.monotonic() - began),
        "inputs": int(execs[0]) if execs else None,
        "last": cover[0].strip()[:100] if cover else "",
        "crashed": done.returncode != 0,
    }
    if done.returncode:
        report["tail"] = said[-1_500:]
    return report


def main(argv: list[str]) -> int:
    if argv[:1] == ["--child"]:
        name, seconds, corpus, found = argv[1:]
        child(name, int(seconds), corpus, found)
        return 0
    from tests.fuzz.targets import TARGETS

    parser = argparse.ArgumentParser(prog="tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0, help="for each target")
    parser.add_argument("--only", action="append", choices=sorted(TARGETS), help="repeatable")
    parser.add_argument("--found", type=Path, default=Path("fuzz-found"), help="folder for crashes")
    parser.add_argument("--keep", type=Path, help="folder for the corpus that was grown")
    given = parser.parse_args(argv)
    given.found.mkdir(parents=True, exist_ok=True)
    if hasattr(os, "nice"):
        os.nice(19)
    reports = []
    for name in given.only or TARGETS:
        report = fuzz(name, round(given.minutes * 60), given.found.resolve(), given.keep)
        reports.append(report)
        print(json.dumps(report), flush=True)
    crashed = [str(report["target"]) for report in reports if report["crashed"]]
    print(f"crashed: {', '.join(crashed) or 'none'}")
    return 1 if crashed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
