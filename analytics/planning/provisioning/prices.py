"""The machines for rent and their prices: the price books of `prices.toml` (spec D5, WA-42)."""

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from ..errors import PlanError
from .terms import Machine, Terms


@dataclass(frozen=True, slots=True)
class PriceBook:
    """The machine types and the price of traffic of one provider at one time. `source` says where they are from."""

    name: str
    source: str
    usd_per_gb: float
    machines: tuple[Machine, ...]

    def terms(self, machine_name: str, **settings: Any) -> Terms:
        """Returns that machine under these prices; `settings` are the other fields of Terms.

        Raises PlanError if the book does not have the machine.
        """
        for machine in self.machines:
            if machine.name == machine_name:
                return Terms(machine, self.usd_per_gb, **settings)
        known = ", ".join(machine.name for machine in self.machines)
        raise PlanError(f"there is no machine {machine_name!r} in the price book {self.name}; it has {known}")


def books() -> dict[str, PriceBook]:
    """Returns all price books by name."""
    found = tomllib.loads(files(__package__).joinpath("prices.toml").read_text("utf-8"))
    return {
        name: PriceBook(name, each["source"], each["usd_per_gb"], tuple(Machine(**machine) for machine in each["machines"]))
        for name, each in found.items()
    }


def check_room(terms: Terms, loudest: int) -> None:
    """Raises PlanError if a machine cannot take in a topic of `loudest` events and give it out once (thesis 7.1.3).

    The message says which machines could, and which books have them.
    """
    if terms.capacity >= 2 * loudest:
        return
    per_mbit_s = 125_000 * terms.capacity_s / terms.message_bytes
    needed = 2 * loudest / per_mbit_s
    larger = [
        f"{', '.join(names)} (--prices {book.name})"
        for book in books().values()
        if (names := [machine.name for machine in book.machines if int(machine.mbit_per_s * per_mbit_s) >= 2 * loudest])
    ]
    advice = f"such as {', '.join(larger)}" if larger else "which none in the price books has"
    raise PlanError(
        f"{terms.machine.name} can carry {terms.capacity:,} events, and the loudest topic needs {2 * loudest:,}: {loudest:,} in, "
        f"and out at least once; take a machine of {needed:,.4g} Mbit/s or more ({advice}), or a longer capacity_s"
    )
