"""The command: reads the options, does one thing, gives one exit code."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from agent_loop import config
from agent_loop.assemble.stopping import Stopper
from agent_loop.config import Config
from agent_loop.errors import AgentLoopError
from agent_loop.evals import reading
from agent_loop.evals.experiments import Experiment, configured
from agent_loop.evals.options import Options, options_of, parser
from agent_loop.evals.session import Session
from agent_loop.evals.study import experiment_of, study_of
from agent_loop.terminal.screen import Screen


def main(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """Run one command; returns the exit code. Never a traceback for what a person can mend."""
    given = parser().parse_args(argv)
    screen = Screen(as_json=given.json, quiet=given.quiet)
    try:
        options = options_of(given)
        return _run(options, env, screen)
    except AgentLoopError as error:
        screen.error(f"error: {error}")
        return error.exit_code
    except OSError as error:
        screen.error(f"error: {error}")
        return 1
    except KeyboardInterrupt:
        screen.error("interrupted")
        return 130


def _run(options: Options, env: Mapping[str, str], screen: Screen) -> int:
    experiment = experiment_of(options)
    settings = settings_of(options, env, experiment)
    code = reading.run(options.given, settings, env, screen)
    if code is not None:
        return code
    stopper = Stopper(lambda line: screen.result(line, "yellow"))
    session = Session(
        options=options,
        config=settings,
        env=env,
        screen=screen,
        stopper=stopper,
        study=study_of(options, settings.runs_dir, experiment),
    )
    with stopper.listening():
        return session.run()


def settings_of(
    options: Options, env: Mapping[str, str], experiment: Experiment | None = None
) -> Config:
    """The configuration of an eval: never a fallback, because it would be another model.

    Raises:
        ConfigError: with the file and line, or the `--set`, that is wrong.
    """
    base = config.base_file(Path())
    if experiment is None:
        found = config.load(base, env, options.sets, options.configs)
    else:
        found = configured(experiment, base, env, options.sets, options.configs)
    return found.model_copy(update={"fallback": None})
