"""Containers; the only room that imports docker."""

from agent_loop.sandbox.docker import DockerSandbox
from agent_loop.sandbox.local import LocalSandbox
from agent_loop.sandbox.make import make_sandbox

__all__ = ["DockerSandbox", "LocalSandbox", "make_sandbox"]
