"""The function ends the process with code 0."""

from tamper_victim import in_plural

FILES = in_plural(
    """
import os
os._exit(0)
"""
)
