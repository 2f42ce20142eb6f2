"""A public class name is used once, so that a name says which class is meant wherever it is read."""

import ast
from collections import defaultdict
from typing import Final

from tests.architecture.sources import sources

FOLDERS: Final = (
    "infra",
    "broker",
    "aggregator",
    "accesspoint",
    "notification",
    "services",
    "rule_engine",
    "segue",
    "analytics",
    "overlay",
    "bench",
)
# Names that several classes still have.
PENDING: Final = {
    "Event",
}


def homes() -> dict[str, set[str]]:
    """Returns the files in which each public class name is defined."""
    found: dict[str, set[str]] = defaultdict(set)
    for source in sources(*FOLDERS):
        for node in source.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].add(source.path)
    return found


def test_a_class_name_is_used_once() -> None:
    shared = {name: sorted(files) for name, files in homes().items() if len(files) > 1}
    assert {name: files for name, files in shared.items() if name not in PENDING} == {}


def test_no_exception_is_stale() -> None:
    found = homes()
    assert sorted(name for name in PENDING if len(found.get(name, ())) < 2) == []
