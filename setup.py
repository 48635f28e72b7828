"""Carries the files of `sandbox/` into the wheel; everything else is in pyproject.toml."""

from pathlib import Path
from shutil import copyfile

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
RECIPES = (
    "Dockerfile",
    "engine.sh",
    "install.sh",
    "node.Dockerfile",
    "pytest.txt",
    "verify_pytest.py",
)


class WithRecipes(build_py):
    """Project images are built from these, also where there is no clone."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return  # the clone's own folder is found
        target = Path(self.build_lib, "agent_loop", "sandbox", "recipes")
        target.mkdir(parents=True, exist_ok=True)
        for name in RECIPES:
            copyfile(ROOT / "sandbox" / name, target / name)


setup(cmdclass={"build_py": WithRecipes})
