"""Containers; the only room that imports docker."""

from agent_loop.sandbox.docker import DockerSandbox
from agent_loop.sandbox.local import LocalSandbox
from agent_loop.sandbox.make import make_image_builder, make_sandbox
from agent_loop.sandbox.project_image import PYTHON as PROJECT_PYTHON
from agent_loop.sandbox.project_image import ImageBuilder

__all__ = [
    "PROJECT_PYTHON",
    "DockerSandbox",
    "ImageBuilder",
    "LocalSandbox",
    "make_image_builder",
    "make_sandbox",
]
