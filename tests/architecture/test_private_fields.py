"""No test sets a private field of another object: what a test wants to replace is an argument of a constructor."""

import ast
from collections.abc import Iterator
from typing import Final

from tests.architecture.sources import Source, sources

# (file, what is set): those that are left, each until its object takes the part as an argument.
EXCEPTIONS: Final = frozenset(
    {
        ("tests/analytics/planning/provisioning/test_gsp.py", "gsp_module._choose"),
        ("tests/simulation/loop.py", "task._log_destroy_pending"),
    }
)


def sets(source: Source) -> Iterator[str]:
    """Yields each private field of another object that `source` sets, as it is written there."""
    for node in source.nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del) and _is_private(node.attr):
            owner = ast.unparse(node.value)
            if owner not in {"self", "cls"}:
                yield f"{owner}.{node.attr}"
        if isinstance(node, ast.Call) and _called(node).endswith("setattr"):
            yield from _patched(node)


def _called(call: ast.Call) -> str:
    """Returns the last name of what is called, or nothing where it has none."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else call.func.id if isinstance(call.func, ast.Name) else ""


def _patched(call: ast.Call) -> Iterator[str]:
    """Yields what `setattr(thing, "_name", ...)` or `monkeypatch.setattr("module._name", ...)` sets."""
    texts = [each.value for each in call.args[:2] if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    owner, _, name = texts[0].rpartition(".") if texts else ("", "", "")
    if _is_private(name):
        yield f"{owner or ast.unparse(call.args[0])}.{name}"


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def found() -> set[tuple[str, str]]:
    """Returns (file, what is set) of all tests."""
    return {(source.path, what) for source in sources("tests") for what in sets(source)}


def test_no_test_sets_a_private_field_of_another_object() -> None:
    assert sorted(found() - EXCEPTIONS) == []


def test_no_exception_is_stale() -> None:
    assert sorted(EXCEPTIONS - found()) == []
