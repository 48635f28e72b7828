"""How often something may happen: a bucket that fills steadily."""

import threading
from collections.abc import Callable


class Rate:
    """At most `burst` at once and `per_s` in the long run. Any thread may ask."""

    def __init__(self, per_s: float, burst: float, monotonic: Callable[[], float]) -> None:
        self._per_s = per_s
        self._burst = burst
        self._monotonic = monotonic
        self._left = burst
        self._at = monotonic()
        self._lock = threading.Lock()

    def allows(self) -> bool:
        """Whether one more may happen now; counts it if so."""
        with self._lock:
            now = self._monotonic()
            self._left = min(self._burst, self._left + (now - self._at) * self._per_s)
            self._at = now
            if self._left < 1:
                return False
            self._left -= 1
            return True
