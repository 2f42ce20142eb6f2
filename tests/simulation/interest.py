"""The interest that nodes hold beside what follows from what clients want."""

from tests.support.interest_oracle import Tables


class InterestComparison:
    """Looks at the interest of all nodes, one soon after the other.

    Clients are still meanwhile, and yet what is wanted changes: the time of what nobody follows any more ends, and its broker withdraws
    it at the other sites. That is on its way for some milliseconds. So what was wanted at the look before may still be held, and no longer.
    """

    def __init__(self) -> None:
        self._before: Tables = {}

    def odd(self, implied: Tables, held: Tables) -> str:
        """Returns who holds what nobody wants, or lacks what somebody wants; empty if all is exact."""
        before, self._before = self._before, implied
        for name in sorted({*implied, *held}):
            wanted, there = implied.get(name, set()), held.get(name, set())
            if odd := (wanted - there) | (there - wanted - before.get(name, set())):
                return f"the interest of {name} is too much or too little: {sorted(odd)}"
        return ""
