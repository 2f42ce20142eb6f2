"""Knobs of simulated lives: what they change is back where it was when a life is over."""

import random

from .knobs import KNOBS, TURNED_SHARE, turned


def _values() -> list[int]:
    return [getattr(module, name) for module, name, _ in KNOBS]


def test_knobs_are_turned_for_a_life_and_stand_where_production_has_them_after_it() -> None:
    before = _values()
    seed = next(seed for seed in range(50) if random.Random(seed).random() < TURNED_SHARE)
    with turned(random.Random(seed)):
        assert all(value in few for value, (_, _, few) in zip(_values(), KNOBS, strict=True))
    assert _values() == before


def test_half_of_all_lives_and_those_that_do_not_vary_have_what_production_has() -> None:
    before = _values()
    with turned(None):
        assert _values() == before
    seed = next(seed for seed in range(50) if random.Random(seed).random() >= TURNED_SHARE)
    with turned(random.Random(seed)):
        assert _values() == before
