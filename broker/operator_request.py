"""One request of an operator: who asks, from where, for what, and how what they named is read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeVar
from urllib.parse import parse_qsl

from infra.kernel.errors import Refused
from infra.runtime.http.door import Head
from infra.runtime.tokens import Service

PAGE: Final = 1000
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class OperatorRequest:
    """One request: who asks, from where, and for what. `on` is filled in when that is known, for the audit log."""

    who: Service
    head: Head
    body: bytes
    on: list[str]

    @property
    def query(self) -> dict[str, str]:
        """What the query names."""
        return dict(parse_qsl(self.head.query, keep_blank_values=True))

    def page(self, known: Mapping[str, T]) -> tuple[list[T], bool]:
        """Returns the page of `known` behind the name in `after`, by name, and whether there is more."""
        after = self.query.get("after", "")
        names = sorted(name for name in known if name > after)
        return [known[name] for name in names[:PAGE]], len(names) > PAGE


def only_one(**named: object) -> tuple[str, str]:
    """Returns the name and the value of the only argument that is given. Raises `Refused` for none, and for several."""
    given = [(name, str(value)) for name, value in named.items() if value is not None]
    if len(given) != 1:
        raise Refused("bad-field", f"name one of {', '.join('jti' if name == 'token' else name for name in named)}, not {len(given)}")
    return given[0]
