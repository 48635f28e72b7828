"""The same without any telling name."""

from tamper_victim import at_import

FILES = at_import(
    """
import os

getattr(os, '_ex' + 'it')(0)
"""
)
