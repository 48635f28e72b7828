"""Starts pytest in a container with our recorder, as `python -m pytest` would.

It has pytest imported already when the run is told: the container was started ahead. What kind
of run this is comes over standard input and is gone when the judged code starts.
"""

import importlib
import json
import os
import runpy
import shutil
import sys
import types
from importlib import metadata
from typing import Any


def load(name: str, path: str) -> types.ModuleType:
    """One of our own files as a module, without a folder on the import path."""
    with open(path, encoding="utf-8") as file:
        source = file.read()
    module = types.ModuleType(name)
    module.__file__ = path
    sys.modules[name] = module
    exec(compile(source, path, "exec"), module.__dict__)
    return module


def entry_names(wanted: list[str]) -> list[str]:
    """Names that `-p` takes: an entry point's, found by its own, its package's or module's name."""
    found = []
    for name in wanted:
        plain = name.replace("-", "_").lower()
        names = [
            one.name
            for one in metadata.entry_points(group="pytest11")
            if plain in (one.name, one.value.split(":")[0].split(".")[0], package(one))
        ]
        found += names or [name]
    return found


def package(entry: metadata.EntryPoint) -> str:
    distribution = entry.dist
    return "" if distribution is None else distribution.name.replace("-", "_").lower()


def installed() -> list[str]:
    """Top-level names that a file of the project could shadow."""
    return sorted({*sys.stdlib_module_names, *metadata.packages_distributions(), "_pytest"})


def preload() -> None:
    """Import what every run imports; nothing of it looks at the project."""
    config = importlib.import_module("_pytest.config")
    for name in config.default_plugins:
        importlib.import_module(f"_pytest.{name}")


def prepare_site(folder: str, trace: dict[str, Any]) -> str:
    """Have the Python processes of the tests traced too; gives the file they write."""
    site = os.path.join(folder, "site")
    os.makedirs(site)
    for name, source in (("sitecustomize", "site"), ("lines", "lines")):
        shutil.copyfile(os.path.join(folder, f"{source}.py"), os.path.join(site, f"{name}.py"))
    with open(os.path.join(site, "trace.json"), "w", encoding="utf-8") as file:
        json.dump(trace, file)
    os.environ["PYTHONPATH"] = f"{site}:{os.environ['PYTHONPATH']}"
    return os.path.join(site, "lines.out")


def main() -> None:
    """Read the kind of run, then hand over to pytest."""
    preload()
    run = json.load(sys.stdin)
    os.environ.update(run["env"])
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    folder = run["folder"]
    recorder = load("run_recorder", os.path.join(folder, "recorder.py"))
    plugins = entry_names(run["plugins"])
    recorder.setup(3, scrub=run["scrub"], installed=installed() if run["look"] else None)
    watch = load("run_watch", os.path.join(folder, "watch.py"))
    recorder.watch(watch.test_paths)
    watch.start(recorder.write)
    if run["trace"] is not None:
        recorder.follow(prepare_site(folder, run["trace"]))
        lines = load("run_lines", os.path.join(folder, "lines.py"))
        lines.start(run["trace"], recorder.write, recorder.current)
    if run["guard"]:
        recorder.guard(load("run_guard", os.path.join(folder, "guard.py")).start())
    sys.argv = ["pytest", "-p", "run_recorder", *run["before"]]
    for name in plugins:
        sys.argv += ["-p", name]
    if "pytest_cov" in plugins:
        sys.argv.append("--no-cov")
    if "xdist" in plugins:
        sys.argv += ["-n", "0"]
    sys.argv += run["after"]
    del run, plugins
    runpy.run_module("pytest", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
