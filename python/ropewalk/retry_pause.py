"""The pause before a repeated request, as in the SDK (sdk/retry-pause.ts)."""

from __future__ import annotations


def retry_pause(tries: int, retry_after_s: float, *, first_s: float, max_s: float, random: float) -> float:
    """Seconds: at least Retry-After, at most a limit that doubles with each failed try, and anywhere between (full jitter). A server
    under load gives all its clients the same Retry-After: without growth they would return together until it recovers. `random`:
    from 0 up to 1."""
    least = max(0.0, retry_after_s)
    most = max(min(max_s, first_s * 2.0 ** min(tries - 1, 30)), least + first_s)
    return least + random * (most - least)
