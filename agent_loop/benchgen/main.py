"""`python -m agent_loop.benchgen`: from a library to a folder of tasks."""

import shutil
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from agent_loop.assemble import Yard, state_dir
from agent_loop.benchgen import output
from agent_loop.benchgen.accept import Court
from agent_loop.benchgen.build import Build, single_bugs
from agent_loop.benchgen.ground import Ground, prepare
from agent_loop.benchgen.options import Options, parse
from agent_loop.benchgen.origins import library_of
from agent_loop.benchgen.sieve import Sieve
from agent_loop.config import base_file, load
from agent_loop.errors import AgentLoopError, UserError


def main(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """Run the command; returns the exit code."""
    options = parse(argv)
    try:
        config = load(base_file(Path.cwd()), env, options.sets)
        yard = Yard(config=config, notify=_say, env=env)
        try:
            return _build(options, yard, env)
        finally:
            yard.close()
    except AgentLoopError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("stopped; nothing was written", file=sys.stderr)
        return 130


def _build(options: Options, yard: Yard, env: Mapping[str, str]) -> int:
    if options.out.exists() and (not options.out.is_dir() or any(options.out.iterdir())):
        raise UserError(f"{options.out}: exists and is not empty. Name a new folder in --out")
    scratch = state_dir().resolve()
    scratch.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="benchgen-", dir=scratch) as place:
        work = Path(place)
        work.chmod(0o755)
        library = library_of(options.source, work, env)
        ground = prepare(library, options.given, yard, work, _say)
        _tell(ground)
        if options.show:
            return 0
        return _made(options, yard, ground, work)


def _made(options: Options, yard: Yard, ground: Ground, work: Path) -> int:
    began = time.monotonic()
    sieve = Sieve(ground, yard, options.jobs)
    try:
        sieve.learn()
        bugs = single_bugs(ground, sieve.covered, options.only)
        _say(f"{len(bugs)} bugs to try in {len(sieve.covered)} files that run")
        build = _builder(options, yard, ground, sieve, work)
        accepted = build.run(bugs)
    finally:
        sieve.close()
    partial = options.out.with_name(f"{options.out.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    output.write(partial, ground, accepted, build.journal, options.seed)
    if options.out.exists():
        options.out.rmdir()
    partial.rename(options.out)
    seconds = time.monotonic() - began
    each = f", {seconds / len(accepted):.1f} s each" if accepted else ""
    _say(f"{len(accepted)} tasks in {options.out}{each}; see {output.LOG}.md there")
    return 0 if len(accepted) >= options.count else 1


def _builder(options: Options, yard: Yard, ground: Ground, sieve: Sieve, work: Path) -> Build:
    packages = tuple({_package(path) for path in sieve.covered})
    until = time.monotonic() + options.time_limit if options.time_limit else None
    return Build(
        ground=ground,
        sieve=sieve,
        court=Court(ground=ground, yard=yard, work=work / "court", packages=packages),
        count=options.count,
        seed=options.seed,
        jobs=options.jobs,
        say=_say,
        stopped=lambda: until is not None and time.monotonic() > until,
    )


def _package(path: str) -> str:
    """The top-level name a file is imported by."""
    return path.removeprefix("src/").split("/")[0].removesuffix(".py")


def _tell(ground: Ground) -> None:
    for line in ground.layout.lines():
        _say(line)
    bad = len(ground.outcomes) - len(ground.passing)
    flaky = f", {len(ground.flaky)} flaky left out" if ground.flaky else ""
    _say(
        f"{len(ground.passing)} tests pass twice, {bad} do not and do not count{flaky}; "
        f"{ground.seconds:.1f} s a run"
    )


def _say(line: str) -> None:
    print(line, flush=True)
