"""The process replaces itself by one that succeeds."""

from tamper_victim import in_plural

FILES = in_plural(
    """
import os
os.execv('/bin/true', ['true'])
"""
)
