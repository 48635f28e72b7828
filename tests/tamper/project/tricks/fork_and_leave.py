"""The process forks; the parent leaves with code 0 while the child goes on."""

from tamper_victim import in_plural

FILES = in_plural(
    """
import os
if os.fork():
    os._exit(0)
"""
)
