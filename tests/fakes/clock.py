"""A clock that only moves when somebody sleeps on it."""

import threading


class FakeClock:
    def __init__(self, start=0.0):
        self.now = start
        self.slept = []
        self._lock = threading.Lock()

    def monotonic(self):
        return self.now

    def now_iso(self):
        return "2026-01-01T00:00:00.000Z"

    def sleep(self, seconds):
        with self._lock:
            self.now += seconds
            self.slept.append(seconds)
