"""The pages name only what there is: links lead somewhere, references to code find it, commands exist."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Tool caches and environments, which have pages of their own.
PAGES = sorted(
    path for path in ROOT.rglob("*.md") if not any(part.startswith((".", "build", "node_modules")) for part in path.relative_to(ROOT).parts)
)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
REFERENCE = re.compile(r"`([\w/.-]+\.py):([\w.]+)`")


def prose(page: Path) -> str:
    """Returns the text of a page without its code blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """Returns what can stand behind the # of a link to `page`, as GitHub makes it of the headings."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@cache
def names(path: Path) -> frozenset[str]:
    """Returns what a module defines: functions, classes, constants, and `Class.member`."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        for name in defined(node):
            found.add(name)
            if isinstance(node, ast.ClassDef):
                found |= {f"{name}.{member}" for inner in node.body for member in defined(inner)}
    return frozenset(found)


def defined(node: ast.stmt) -> list[str]:
    """Returns the names that one statement gives a meaning to."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Assign(targets=targets):
            return [target.id for target in targets if isinstance(target, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
    return []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_within_the_project_leads_somewhere(page: Path) -> None:
    for target in LINK.findall(prose(page)):
        if re.match(r"\w+:", target):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), f"{page.name} links to {target}"
        assert not anchor or anchor in anchors(there), f"{page.name} links to {target}, and there is no such heading"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_reference_to_code_finds_it(page: Path) -> None:
    for file, name in REFERENCE.findall(prose(page)):
        assert (ROOT / file).exists(), f"{page.name} speaks of {file}"
        assert name in names(ROOT / file), f"{page.name} speaks of {name} in {file}"


def test_the_architecture_page_refers_to_every_role_and_to_tests() -> None:
    files = {file for file, _ in REFERENCE.findall(prose(ROOT / "ARCHITECTURE.md"))}
    assert {file.partition("/")[0] for file in files} >= {"accesspoint", "aggregator", "broker", "services", "infra", "segue", "tests"}
