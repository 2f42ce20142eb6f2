"""Protocol code of the overlays runs compiled and interpreted, so it is plain functions and knows nothing but itself."""

import ast
from collections.abc import Iterator
from typing import Final

from tests.architecture.sources import Source, sources

TYPES: Final = {"typing", "collections.abc"}
# The type of buffers, which functions only name.
CLASSES: Final = {"overlay/protocol/buffer.py"}


def foreign(source: Source) -> Iterator[str]:
    """Yields what `source` imports from outside the protocol."""
    for node in source.nodes:
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level != 1 and node.module not in TYPES:
            yield "." * node.level + (node.module or "")


def test_the_protocol_imports_nothing_outside_itself() -> None:
    found = {source.path: list(foreign(source)) for source in sources("overlay/protocol")}
    assert len(found) > 3
    assert {path: names for path, names in found.items() if names} == {}


def test_the_protocol_has_no_classes_and_nothing_at_functions() -> None:
    for source in sources("overlay/protocol"):
        for node in source.nodes:
            assert not isinstance(node, ast.ClassDef) or source.path in CLASSES, source.path
            assert not isinstance(node, ast.FunctionDef) or node.decorator_list == [] or source.path in CLASSES, (
                f"{source.path}: {node.name}"
            )
