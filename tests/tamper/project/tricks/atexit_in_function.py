"""The same, registered by the function."""

from tamper_victim import in_plural

FILES = in_plural(
    """
import atexit
import os
atexit.register(os._exit, 0)
"""
)
