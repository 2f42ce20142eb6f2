"""The type of what protocol functions read and write: a flat row of whole numbers."""

from typing import Protocol


class Buffer(Protocol):
    """A row of whole numbers that keeps its length: a list in a peer, an array in the simulator."""

    def __getitem__(self, at: int, /) -> int: ...

    def __setitem__(self, at: int, value: int, /) -> None: ...

    def __len__(self) -> int: ...
