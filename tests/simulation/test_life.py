"""What a life is made of."""

from .life import SimulatedLife
from .operations import CALM, SHAKY, WILD


def test_whatever_may_be_drawn_is_something_that_a_life_can_do() -> None:
    """DPS-29: what is drawn seldom would else end a life that nobody has looked at."""
    life = SimulatedLife(1)
    life.play([])
    assert {*WILD, *CALM, *SHAKY} <= life.acts.keys()
