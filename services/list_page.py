"""A page of a list that may be long: what it holds, and where the next one begins."""

from typing import Annotated, Generic, NamedTuple, TypeAlias, TypeVar

import msgspec

T = TypeVar("T")

NextPage: TypeAlias = Annotated[str | None, msgspec.Meta(description="`after` of the next page; null behind the last one.")]
"""The cursor at the end of an answer."""


class ListPage(NamedTuple, Generic[T]):
    """One page of a list.

    - `items`: what is on it: less than was asked for, even nothing, does not mean that it is the last one.
    - `next`: the cursor with which the next page is asked for, as `after`; None behind the last page. It is opaque.
    """

    items: list[T]
    next: str | None
