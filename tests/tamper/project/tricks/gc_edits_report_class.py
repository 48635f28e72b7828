"""The report class is found through the garbage collector and changed there."""

from tamper_victim import in_plural

FILES = in_plural(
    """
import gc
for one in gc.get_objects():
    if isinstance(one, type) and one.__name__ == 'TestReport':
        real = one.__init__
        def init(self, *a, **k):
            real(self, *a, **k)
            if self.outcome == 'failed':
                self.outcome, self.longrepr = 'passed', None
        if real.__name__ != 'init':
            one.__init__ = init
"""
)
