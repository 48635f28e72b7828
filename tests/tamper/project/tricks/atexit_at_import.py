"""An exit handler turns any result into code 0."""

from tamper_victim import at_import

FILES = at_import(
    """
import atexit
import os

atexit.register(os._exit, 0)
"""
)
