"""The course of a simulated life: what it counts."""

from .course import LifeCourse
from .world import SimulatedWorld


def test_what_went_wrong_after_all_was_well_again_is_something_else() -> None:
    """A life took an access point that lost its power for a broker that had died before, where both were the only fault at their time."""
    course = LifeCourse(SimulatedWorld(1))
    course.goes_wrong()
    before = course.beside("sto/b1")
    assert course.beside("sto/b1") == before
    course.all_is_well()
    course.goes_wrong()
    assert course.beside("sto/b1") != before
    assert course.faults == 1
