"""Who is cut off from whom. Pure."""


class Cuts:
    """Pairs of nodes ("site/node") or of sites that do not reach each other."""

    def __init__(self) -> None:
        self._pairs: set[frozenset[str]] = set()

    def __bool__(self) -> bool:
        return bool(self._pairs)

    def part(self, one: str, other: str) -> None:
        """Cuts two nodes, or two sites, from each other."""
        self._pairs.add(frozenset({one, other}))

    def between(self, one: str, other: str) -> bool:
        """Returns whether two nodes do not reach each other."""
        return not self._pairs.isdisjoint((frozenset({one, other}), frozenset({_site(one), _site(other)})))

    def clear(self) -> None:
        """Lets everybody reach everybody."""
        self._pairs.clear()


def _site(node: str) -> str:
    return node.partition("/")[0]
