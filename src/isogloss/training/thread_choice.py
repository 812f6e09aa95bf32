"""One thread or all of them: whichever is faster just now.

Threads that share the work of a small batch meet thousands of times a second. On a quiet machine two are nearly twice
one; on a busy one each waits for the other to be given a core, and both together are many times slower than one.
"""

from __future__ import annotations

_PROBE = 4
_EVERY = 3


class ThreadChoice:
    """Gives out stretches of batches and the number of threads for each; learns from how long they took."""

    def __init__(self, most: int) -> None:
        self._speeds: dict[int, float] = dict.fromkeys((1, most), 0.0)
        self._calls = 0

    def stretches(self, batches: int) -> list[tuple[int, int]]:
        """Threads and batches: now and then a few with each number of threads, the rest with the best so far.

        >>> choice = ThreadChoice(most=2)
        >>> choice.stretches(100)
        [(1, 4), (2, 4), (0, 92)]
        """
        probes = []
        if self._calls % _EVERY == 0 and len(self._speeds) > 1:
            for threads in self._speeds:
                probes.append((threads, min(_PROBE, batches)))
                batches -= probes[-1][1]
        rest = [(0, batches)]
        made = rest + probes if self._calls else probes + rest
        self._calls += 1
        return [stretch for stretch in made if stretch[1]]

    @property
    def best(self) -> int:
        """The number of threads that was fastest when last tried: what a stretch of 0 threads means."""
        return max(self._speeds, key=lambda threads: self._speeds[threads])

    def learn(self, threads: int, batches: int, seconds: float) -> None:
        """So many batches took so long. Slower than before counts by half, so that one hiccup decides nothing."""
        speed = batches / max(seconds, 1e-9)
        self._speeds[threads] = max(speed, (self._speeds[threads] + speed) / 2)
