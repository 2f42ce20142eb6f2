"""The bytes that clients and publishers of each server exchange with it (pure): one module for each server."""

from ..plan import Target
from .dialect import Dialect
from .mosquitto import Mosquitto
from .naive import NaiveDialect
from .nats import Nats
from .segue import Segue

__all__ = ["Dialect", "dialect_of"]


def dialect_of(target: Target) -> Dialect:
    """Returns the dialect of `target`."""
    match target.speaks:
        case "segue":
            return Segue(target.state)
        case "nats":
            return Nats()
        case "mosquitto":
            return Mosquitto()
        case "naive":
            return NaiveDialect()
