"""`python -m agent_loop.benchgen`: from a library to a folder of tasks."""

import contextlib
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from agent_loop.assemble import Yard, state_dir
from agent_loop.benchgen import output
from agent_loop.benchgen.accept import Accepted, Court
from agent_loop.benchgen.bugs import Bug
from agent_loop.benchgen.build import Build, single_bugs, source_files
from agent_loop.benchgen.ground import Ground, prepare
from agent_loop.benchgen.history import Miner
from agent_loop.benchgen.journal import Journal
from agent_loop.benchgen.model_bugs import model_bugs
from agent_loop.benchgen.options import Options, parse
from agent_loop.benchgen.order import ordered
from agent_loop.benchgen.origins import library_of
from agent_loop.benchgen.rewriting import rewritten
from agent_loop.benchgen.scratch import discard, leaving_clean, working_folder
from agent_loop.benchgen.sieve import Sieve
from agent_loop.benchgen.verify import Verifier, summary
from agent_loop.benchgen.wording import package_of
from agent_loop.config import base_file, load
from agent_loop.errors import AgentLoopError, UserError
from agent_loop.workspace import open_history


def main(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """Run the command; returns the exit code."""
    options = parse(argv)
    try:
        config = load(base_file(Path.cwd()), env, options.sets)
        yard = Yard(config=config, notify=_say, env=env)
        try:
            if options.command == "verify":
                return _verify(options, yard)
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
    with _work(options, yard) as work:
        if options.strategy == "history":
            return _mined(options, yard, work)
        library = library_of(options.source, work, env)
        ground = prepare(library, options.given, yard, work, _say)
        _tell(ground)
        return 0 if options.show else _made(options, yard, ground, work)


@contextlib.contextmanager
def _work(options: Options, yard: Yard) -> Iterator[Path]:
    """A folder that containers can read, gone at the end."""
    with working_folder(state_dir().resolve()) as place:

        def close() -> None:
            print("stopped; nothing was written", file=sys.stderr)
            # Folders first: a busy engine may take longer over containers than we are given,
            # and the next start removes those.
            shutil.rmtree(_partial(options), ignore_errors=True)
            discard(place)
            yard.close()

        with leaving_clean(close):
            yield place


def _partial(options: Options) -> Path:
    """Where the output is written until it is whole."""
    return options.out.with_name(f"{options.out.name}.partial")


def _verify(options: Options, yard: Yard) -> int:
    with _work(options, yard) as work:
        verifier = Verifier(folder=options.out, yard=yard, work=work, runs=options.runs)
        found = verifier.all(options.jobs, _say)
    _say(summary(found))
    return 1 if any(one.problems for one in found) else 0


def _made(options: Options, yard: Yard, ground: Ground, work: Path) -> int:
    began = time.monotonic()
    sieve = Sieve(ground, yard, options.jobs)
    try:
        sieve.learn()
        build = _builder(options, yard, ground, sieve, work)
        accepted = build.run(_waiting(options, yard, ground, sieve))
    finally:
        sieve.close()
    return _written(options, ground, accepted, build.journal, time.monotonic() - began)


def _waiting(options: Options, yard: Yard, ground: Ground, sieve: Sieve) -> Iterator[Bug]:
    """The bugs to try, in their order."""
    files = source_files(ground, sieve.covered, options.only)
    if options.only and not files:
        there = ", ".join(source_files(ground, sieve.covered)[:10])
        raise UserError(
            f"--only {' '.join(options.only)}: no file that runs starts so. There are: {there}"
        )
    if options.strategy == "model":
        model = yard.model(options.model or yard.config.models["worker"])
        return model_bugs(ground, files, model, seed=options.seed, say=_say)
    bugs = single_bugs(ground, files)
    _say(f"{len(bugs)} bugs to try in {len(files)} files that run")
    return ordered(bugs, options.seed)


def _mined(options: Options, yard: Yard, work: Path) -> int:
    began = time.monotonic()
    root = Path(options.source).resolve()
    if not root.is_dir():
        raise UserError(f"{options.source}: --strategy history needs a git checkout")
    journal = Journal()
    with open_history(root) as history:
        miner = Miner(
            history=history,
            name=root.name,
            given=options.given,
            yard=yard,
            work=work,
            most=options.most_commits,
            say=_say,
        )
        accepted = miner.run(options.count, journal)
    if not accepted:
        _say("no commit became a task")
        return 1
    return _written(options, accepted[0].ground, accepted, journal, time.monotonic() - began)


def _written(
    options: Options,
    ground: Ground,
    accepted: Sequence[Accepted],
    journal: Journal,
    seconds: float,
) -> int:
    partial = _partial(options)
    shutil.rmtree(partial, ignore_errors=True)
    output.write(partial, ground, accepted, journal, options.seed)
    if options.out.exists():
        options.out.rmdir()
    partial.rename(options.out)
    each = f", {seconds / len(accepted):.1f} s each" if accepted else ""
    _say(f"{len(accepted)} tasks in {options.out}{each}; see {output.LOG}.md there")
    return 0 if len(accepted) >= options.count else 1


def _builder(options: Options, yard: Yard, ground: Ground, sieve: Sieve, work: Path) -> Build:
    packages = tuple({package_of(path) for path in sieve.covered})
    until = time.monotonic() + options.time_limit if options.time_limit else None
    court = Court(ground=ground, yard=yard, work=work / "court", packages=packages)
    if options.rewrite:
        model = yard.model(options.rewrite)
        court = replace(court, rewrite=lambda one, secrets: rewritten(one, secrets, model, _say))
    return Build(
        ground=ground,
        sieve=sieve,
        court=court,
        count=options.count,
        seed=options.seed,
        jobs=options.jobs,
        say=_say,
        stopped=lambda: until is not None and time.monotonic() > until,
    )


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
