"""Presence keeps nothing: there is no store that it could reach."""

import ast
from pathlib import Path

import msgspec

import services.presence
from services.presence.options import PresenceOptions

FOLDER = Path(services.presence.__file__).parent
PURE = {"collections", "functools", "itertools", "math", "random", "time", "typing", "zlib", "msgspec"}
OURS = {
    "broker.client",
    "infra.runtime.call_links",
    "infra.runtime.context",
    "infra.runtime.link",
    "infra.runtime.link_handlers",
    "infra.runtime.metrics",
    "infra.runtime.node",
    "infra.runtime.wrong_peer",
}


def imported(tree: ast.Module) -> set[str]:
    """Returns all modules that a module imports from outside its own package."""
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    return names | {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and not node.level}


def test_presence_imports_no_driver_and_no_store_and_opens_no_file() -> None:
    """SB-30: a presence event cannot be found in any column family, mail or push, for nobody here can write to one."""
    modules = sorted(FOLDER.glob("*.py"))
    assert len(modules) > 5
    for module in modules:
        tree = ast.parse(module.read_text(encoding="utf-8"))
        strange = {name for name in imported(tree) if name.partition(".")[0] not in PURE and name not in OURS}
        assert {name for name in strange if not name.startswith("infra.kernel.")} == set(), module.name
        assert "open" not in {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}, module.name
        # The context of a role may have a capture; presence must not even look at it.
        assert "capture" not in {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}, module.name


def test_presence_has_no_option_that_names_a_store_or_a_notification_door() -> None:
    """SB-30: it is told of brokers and of other presence services, and of nothing else."""
    addresses = {"brokers", "peers", "listen", "admin"}
    texts = {field.name for field in msgspec.structs.fields(PresenceOptions) if field.type not in (int, float)}
    assert texts == addresses | {"site", "node", "link"}
