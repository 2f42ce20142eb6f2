"""The events that satisfy a subscriber: the threshold, or all events of their topics if these have fewer."""

from operator import index

from .errors import PlanError
from .instance import MOST_COST


def check_threshold(threshold: int) -> None:
    """Raises PlanError for a threshold that makes no sense."""
    if whole_number("threshold", threshold, "a whole number of events") < 1:
        raise PlanError(f"the threshold is {threshold}; it must be 1 event or more, or nobody would need anything")
    if threshold > MOST_COST:
        raise PlanError(f"the threshold is {threshold}; it must be 2^60 events or less, which is all that anybody can get")


def whole_number(name: str, value: int, wanted: str) -> int:
    """Returns `value` as an integer. Raises PlanError, which names `name` and says what is `wanted`, for values such as NaN and 2.5."""
    try:
        return index(value)
    except TypeError:
        raise PlanError(f"the {name} is {value}; it must be {wanted}") from None
