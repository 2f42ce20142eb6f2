"""The price of machines and of their traffic (thesis 7.1, 7.3.1; spec D1, D5)."""

from dataclasses import dataclass
from typing import Final

from ..errors import PlanError
from ..instance import MOST_COST

GIGABYTE: Final = 10**9


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine type: its price for an hour, and how much it can take in and give out together."""

    name: str
    usd_per_hour: float
    mbit_per_s: float


@dataclass(frozen=True, slots=True)
class Terms:
    """One machine type under one price of traffic, for a period of `hours`.

    `capacity_s`: for how many seconds a machine may carry its rate in the whole period. A machine can really do 864,000 in ten days;
    3,600 reproduces the thesis (spec D5, "unit of BC").
    """

    machine: Machine
    usd_per_gb: float
    message_bytes: int = 200
    hours: float = 240.0
    capacity_s: float = 3600.0

    def __post_init__(self) -> None:
        machine = self.machine
        positive = {name: getattr(self, name) for name in ("message_bytes", "hours", "capacity_s")} | {"mbit_per_s": machine.mbit_per_s}
        for name, value in positive.items():
            if not 0 < value <= MOST_COST:
                raise PlanError(f"{name} is {value}; it must be more than 0, and at most 2^60")
        for name, value in {"usd_per_gb": self.usd_per_gb, "usd_per_hour": machine.usd_per_hour}.items():
            if not 0 <= value <= MOST_COST:
                raise PlanError(f"{name} is {value}; it must be 0 or more, and at most 2^60")
        if self._carried > MOST_COST:
            raise PlanError(f"{machine.name} could carry more than 2^60 events; take a shorter capacity_s")

    @property
    def capacity(self) -> int:
        """Returns BC: the events, in and out together, that one machine can carry in the period."""
        return int(self._carried)

    @property
    def _carried(self) -> float:
        return self.machine.mbit_per_s * 125_000 * self.capacity_s / self.message_bytes

    def rent_usd(self, machines: int) -> float:
        """Returns C1: the price of `machines` for the period."""
        return machines * self.machine.usd_per_hour * self.hours

    def traffic_usd(self, events: int) -> float:
        """Returns C2: the price of `events` in and out."""
        return events * self.message_bytes / GIGABYTE * self.usd_per_gb

    def usd(self, machines: int, events: int) -> float:
        """Returns the whole bill."""
        return self.rent_usd(machines) + self.traffic_usd(events)
