"""Makes the base image available and pins it: `make image`, or as a module from the repository.

python -m sandbox.build_base_image [--clean]     --clean: remove older images of ours as well
"""

import os
import sys
from pathlib import Path

from agent_loop.config import load
from agent_loop.errors import AgentLoopError
from agent_loop.sandbox.engine import find_engine
from agent_loop.sandbox.image import set_up_image
from agent_loop.sandbox.reaper import prune_images

ROOT = Path(__file__).resolve().parents[1]


def main(arguments: list[str]) -> int:
    """Exit code 0, or that of the error it prints."""
    try:
        settings = load(ROOT / "config.yaml", os.environ).sandbox_settings
        engine = find_engine(os.environ, Path.home())
        image = set_up_image(engine, settings.image, ROOT / ".scratch", print)
        if "--clean" in arguments:
            print(f"removed {len(prune_images(engine, keep=[image]))} older images")
        engine.close()
    except AgentLoopError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    print(f"base image: {image}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
