"""A page of a list that may be long: what it holds, and where the next one begins."""

from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")


class ListPage(NamedTuple, Generic[T]):
    """`next` is given back as `after` to go on; it is opaque, and None behind the last page. A page may hold less than was asked
    for, even nothing, and not be the last."""

    items: list[T]
    next: str | None
