"""Our own records are written by the function, then the process leaves with code 0."""

from tamper_victim import in_plural

FILES = in_plural(
    """
import json
import os
import sys
ids = [i for i in open('/tmp/run/ids.txt').read().split('\\n') if i] if os.path.exists('/tmp/run/ids.txt') else []
try:
    for name in ids:
        for when in ('setup', 'call', 'teardown'):
            line = dict(t='report', id=name, when=when, outcome='passed', xfail=False, sub=False, text='')
            os.write(3, (json.dumps(line) + '\\n').encode())
    os.write(3, (json.dumps(dict(t='end', code=0, collected=len(ids))) + '\\n').encode())
except OSError:
    pass
os._exit(0)
"""
)
