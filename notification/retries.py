"""Retries of what could not be handed over: eight attempts within half an hour, ever farther apart, then a dead letter."""

from typing import Final

from infra.kernel.backoff import Backoff, Rng

MAX_ATTEMPTS: Final = 8
WINDOW_S: Final = 30 * 60.0
# Clocks are set, and processes sleep: what the clock alone says ends nothing before so many attempts.
MIN_ATTEMPTS: Final = 3
# 14 + 28 + ... + 896 = 1778: the longest delays of seven retries end just inside the window.
_GROWTH: Final = Backoff(base_s=14.0, cap_s=896.0)


def next_delay_s(attempt: int, started_ms: int, now_ms: int, rng: Rng, at_least_s: float = 0.0) -> float | None:
    """Returns how long to wait after attempt number `attempt` (1 is the first) has failed; None: give up, dead letter.

    - `started_ms`, `now_ms`: when the first attempt was made, and the time now. They may contradict each other: attempts are
      bounded whatever the clock does, and no delay is ever near zero.
    - `rng`: draws the delay.
    - `at_least_s`: what the other side asked for (`Outcome.retry_after_s`); respected up to the window.

    Raises ValueError for an attempt below 1.
    """
    if attempt < 1:
        raise ValueError(f"attempts are counted from 1, got {attempt}")
    # The clock may have jumped forward after the first attempt, so time alone is no reason to give up.
    is_late = now_ms - started_ms >= WINDOW_S * 1000 and attempt >= MIN_ATTEMPTS
    if is_late or attempt >= MAX_ATTEMPTS:
        return None
    # From the upper half of the range, not from all of it: a server in trouble is not asked at once.
    delay_s = _GROWTH.limit_s(attempt - 1) * (1 + rng.random()) / 2
    return max(delay_s, min(at_least_s, WINDOW_S))
