"""As much of the house's language as a machine can see (CONTRIBUTING.md, "Words").

A function's docstring begins with a verb in the third person, a class's with a noun, and people are "they". A person has to read the
rest.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.architecture.sources import ROOT, Source, sentence, sources

PRODUCT: Final = (
    "accesspoint",
    "aggregator",
    "analytics",
    "broker",
    "infra",
    "notification",
    "overlay",
    "rule_engine",
    "segue",
    "services",
)
TOOLS: Final = ("bench", "tests")
# Words that look like a verb in the third person and are none, at the beginning of a sentence that says what something is.
NO_VERBS: Final = {
    *("Always", "As", "Its", "This"),
    *("Bytes", "Events", "Figures", "Lines", "Names", "Others", "Rows", "Seconds", "Times", "Topics", "Users", "Words"),
}
# (file, name) of what is right although the check says no.
EXCEPTIONS: Final = frozenset(
    {
        # Hypothesis draws the lives of this machine from its source, docstrings included: other words are another life.
        ("tests/cluster/test_machine.py", "_check"),
    }
)

_VERB: Final = re.compile(r"[A-Z][a-z]+s(-[a-z]+)?")
_NO_NOUN: Final = re.compile(r"(Who|What|Where|When|How|Whether|Keeps|Holds|Does|Makes|Has|Is|Says|Asks|Decides|Takes|Gives)\b")
_PERSON: Final = re.compile(r"\b(he|him|his|himself|she|her|hers|herself)\b", re.IGNORECASE)
# These are nouns (a property), the words of a command's help, or nothing that is called by its name.
_DECORATORS: Final = ("property", "setter", "command", "group", "fixture")


def functions(source: Source) -> Iterator[tuple[str, str]]:
    """Yields name and docstring of each function that does something when it is called; a test's docstring is its own matter."""
    for node in source.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("test_"):
            docstring = ast.get_docstring(node)
            if docstring and not any(word in ast.dump(each) for each in node.decorator_list for word in _DECORATORS):
                yield node.name, docstring


def classes(source: Source) -> Iterator[tuple[str, str]]:
    """Yields name and docstring of each class."""
    for node in source.nodes:
        docstring = ast.get_docstring(node) if isinstance(node, ast.ClassDef) else None
        if isinstance(node, ast.ClassDef) and docstring:
            yield node.name, docstring


def begins_with_a_verb(docstring: str) -> bool:
    """Returns whether the first word may be a verb in the third person."""
    first = docstring.split()[0].strip("`:,.")
    return first == "See" or (first not in NO_VERBS and _VERB.fullmatch(first) is not None)


def said(source: Source) -> Iterator[tuple[int, str]]:
    """Yields line number and text of what `source` says to its reader: comments, and texts that are more than a word."""
    for number, line in enumerate(source.text.splitlines(), 1):
        _, comment, text = line.partition("# ")
        if comment:
            yield number, text
    for node in source.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, node.value


def pages() -> list[Path]:
    """Returns the pages that are to be right: those of `docs`, and every other one of the root and its folders."""
    # The contributors' page quotes old sentences, to show what to write instead.
    found = [path for pattern in ("*.md", "*/*.md", "docs/*.json") for path in ROOT.glob(pattern)]
    return [path for path in found if path.name != "CONTRIBUTING.md"]


@pytest.mark.parametrize(
    ("docstring", "right"),
    [("Returns it.", True), ("See `Broker.ready`.", True), ("The rows.", False), ("Return it.", False), ("Topics of a user.", False)],
)
def test_a_verb_is_told_from_other_words(docstring: str, right: bool) -> None:
    assert begins_with_a_verb(docstring) is right


def test_a_function_says_what_it_does_with_a_verb() -> None:
    wrong = [
        f"{source.path}: {name}: {sentence(docstring)}"
        for source in sources(*PRODUCT, *TOOLS)
        for name, docstring in functions(source)
        if not begins_with_a_verb(docstring) and (source.path, name) not in EXCEPTIONS
    ]
    assert wrong == []


def test_a_class_says_what_it_is_with_a_noun() -> None:
    wrong = [
        f"{source.path}: {name}: {sentence(docstring)}"
        for source in sources(*PRODUCT, *TOOLS)
        for name, docstring in classes(source)
        if _NO_NOUN.match(docstring) and (source.path, name) not in EXCEPTIONS
    ]
    assert wrong == []


def test_people_are_they_in_code() -> None:
    found = [(source.path, number, text) for source in sources(*PRODUCT, *TOOLS) for number, text in said(source)]
    assert [f"{path}:{number}: {sentence(text)}" for path, number, text in found if _PERSON.search(text)] == []


def test_people_are_they_on_pages() -> None:
    lines = [(page, number, line) for page in pages() for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1)]
    assert [f"{page.relative_to(ROOT)}:{number}: {line[:90]}" for page, number, line in lines if _PERSON.search(line)] == []


def test_no_exception_is_stale() -> None:
    known = {(source.path, name) for source in sources(*PRODUCT, *TOOLS) for name, _ in [*functions(source), *classes(source)]}
    assert sorted(EXCEPTIONS - known) == []
