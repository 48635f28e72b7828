"""`python -m agent_loop.sandbox`: makes the base image available and pins it, once per machine."""

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from agent_loop import config
from agent_loop.errors import AgentLoopError
from agent_loop.sandbox.engine import find_engine
from agent_loop.sandbox.image import set_up_image
from agent_loop.sandbox.reaper import prune_images


def main(arguments: Sequence[str], env: Mapping[str, str]) -> int:
    """Exit code 0, or that of the error it prints."""
    parser = argparse.ArgumentParser(
        prog="python -m agent_loop.sandbox",
        description="Find, pull or build the base image, and remember its id.",
        allow_abbrev=False,
    )
    parser.add_argument("--clean", action="store_true", help="remove older images of ours as well")
    given = parser.parse_args(arguments)
    try:
        _set_up(env, clean=given.clean)
    except AgentLoopError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    return 0


def _set_up(env: Mapping[str, str], *, clean: bool) -> None:
    settings = config.load(config.base_file(Path()), env).sandbox_settings
    engine = find_engine(env, Path.home())
    try:
        image = set_up_image(engine, settings.image, config.state_dir(), _say)
        if clean:
            _say(f"removed {len(prune_images(engine, keep=[image]))} older images")
    finally:
        engine.close()
    _say(f"base image: {image}")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
