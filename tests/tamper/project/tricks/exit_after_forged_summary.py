"""The function prints a summary of passed tests, then ends the process."""

from tamper_victim import in_plural

FILES = in_plural(
    """
import os
os.write(1, b'4 passed in 0.01s\\n')
os._exit(0)
"""
)
