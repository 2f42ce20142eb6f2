"""The gate opens at 60 % of load and closes below 40 %; between the two it stays as it is."""

from hypothesis import given
from hypothesis import strategies as st

from broker.load_gate import HIGH, LOW, STEPS, LoadGate, LoadLevel, LoadState, level


def test_the_table_has_every_state_at_every_level() -> None:
    assert set(STEPS) == {(state, each) for state in LoadState for each in LoadLevel}


@given(st.lists(st.floats(0.0, HIGH, exclude_max=True)))
def test_nothing_is_held_below_60_percent(loads: list[float]) -> None:
    """DPS-20."""
    gate = LoadGate()
    for load in loads:
        gate.observe(load)
        assert gate.state is LoadState.DIRECT


@given(st.lists(st.floats(0.0, 3.0), min_size=1))
def test_the_state_is_that_of_the_last_load_that_was_not_between(loads: list[float]) -> None:
    """DPS-20: hysteresis."""
    gate = LoadGate()
    for load in loads:
        gate.observe(load)
    decisive = [load for load in loads if load >= HIGH or load < LOW]
    assert (gate.state is LoadState.HOLDING) == bool(decisive and decisive[-1] >= HIGH)


def test_levels_begin_where_they_say() -> None:
    assert [level(load) for load in (0.0, LOW, HIGH)] == [LoadLevel.LOW, LoadLevel.MIDDLE, LoadLevel.HIGH]
