"""What satisfies a subscriber: so many events, or all of his topics if they have fewer."""

from operator import index

from .errors import PlanError
from .instance import MOST_COST


def check_threshold(threshold: int) -> None:
    """Raises PlanError for a threshold that nobody can mean."""
    if whole_number("threshold", threshold, "a whole number of events") < 1:
        raise PlanError(f"the threshold is {threshold}; it must be 1 event or more, or nobody would need anything")
    if threshold > MOST_COST:
        raise PlanError(f"the threshold is {threshold}; it must be 2^60 events or less, which is all that anybody can get")


def whole_number(name: str, value: int, wanted: str) -> int:
    """`value` as an integer. Raises PlanError that says what is `wanted` if it is none, as NaN and 2.5."""
    try:
        return index(value)
    except TypeError:
        raise PlanError(f"the {name} is {value}; it must be {wanted}") from None
