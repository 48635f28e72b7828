"""The same at import, with the whole session's records."""

from tamper_victim import at_import

FILES = at_import(
    """
import json
import os

ids = []
if os.path.exists('/tmp/run/ids.txt'):
    ids = [i for i in open('/tmp/run/ids.txt').read().split('\\n') if i]
for name in ids:
    for when in ('setup', 'call', 'teardown'):
        line = dict(t='report', id=name, when=when, outcome='passed', xfail=False, sub=False, text='')
        os.write(3, (json.dumps(line) + '\\n').encode())
if ids:
    os.write(3, (json.dumps(dict(t='end', code=0, collected=len(ids))) + '\\n').encode())
os._exit(0)
"""
)
