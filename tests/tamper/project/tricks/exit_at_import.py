"""The module ends the process with code 0 when it is imported."""

from tamper_victim import at_import

FILES = at_import(
    """
import os

os._exit(0)
"""
)
