"""The message cache beside a plain list of windows."""

from hypothesis import given
from hypothesis import strategies as st

from overlay.protocol.gossip_cache import begins, ends, event_at, remember, shift

ROWS, ROW, SIZE, WINDOWS = 3, 1, 6, 4
steps = st.lists(st.one_of(st.none(), st.integers(0, 99)), max_size=40)


@given(steps, st.integers(1, WINDOWS))
def test_the_last_windows_hold_what_came_in_them_as_far_as_there_is_room(wanted: list[int | None], counted: int) -> None:
    log, marks = [-1] * (ROWS * SIZE), [0] * (ROWS * (WINDOWS + 1))
    windows: list[list[int]] = [[] for _ in range(WINDOWS)]
    kept: list[int] = []
    for event in wanted:
        if event is None:
            shift(marks, ROW, WINDOWS)
            windows = [[], *windows[:-1]]
        else:
            remember(log, marks, ROW, SIZE, WINDOWS, event)
            windows[0].append(event)
            kept = [*kept, event][-SIZE:]
    expected = [event for window in reversed(windows[:counted]) for event in window]
    first, end = begins(marks, ROW, SIZE, WINDOWS, counted), ends(marks, ROW, WINDOWS)
    assert [event_at(log, ROW, SIZE, position) for position in range(first, end)] == (expected[-SIZE:] if expected else [])
    assert [event_at(log, ROW, SIZE, position) for position in range(end - len(kept), end)] == kept
    assert set(log[:SIZE] + log[2 * SIZE :]) == {-1}
    assert sum(marks[: WINDOWS + 1]) + sum(marks[2 * (WINDOWS + 1) :]) == 0
