"""A thread ends the process with code 0 a little later."""

from tamper_victim import in_plural

FILES = in_plural(
    """
import os
import threading
import time
threading.Timer(0.01, os._exit, [0]).start()
time.sleep(1)
"""
)
