"""A thing of another module, which is imported when it is first asked for."""

from dataclasses import dataclass
from importlib import import_module
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Imported(Generic[T]):
    """Something at `place`, "package.module:attribute". To name it costs nothing; `get` imports the module."""

    place: str

    def get(self) -> T:
        """Returns the thing. Raises ImportError and AttributeError where `place` is wrong."""
        module, _, attribute = self.place.partition(":")
        found: T = getattr(import_module(module), attribute)
        return found
