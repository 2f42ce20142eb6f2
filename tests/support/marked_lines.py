"""Modules that note which of their lines run: a mark is compiled in before each statement.

A tracer does the same without a change to the code, but on CPython 3.11 it is asked at every line of everything, again and again, and
takes as much time as the code. A mark is one store into a list.
"""

import ast
import sys
from collections.abc import Iterator, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType
from typing import Final

# By this name a module's code knows its list, which has a place for each line: whether it has run.
_LINES: Final = "__lines__"
_BLOCKS: Final = ("body", "orelse", "finalbody")
_WITH_DOCSTRING: Final = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def marked(source: bytes) -> ast.Module:
    """Returns the tree of `source` with a mark before each statement. A block of `except` or `case` marks the lines that led to it."""
    tree = ast.parse(source)
    for node in list(ast.walk(tree)):
        for name in _BLOCKS:
            block = getattr(node, name, None)
            if isinstance(block, list):  # the body of a lambda and of `a if b else c` is an expression
                first = _docstring(node, block) if name == "body" else 0
                setattr(node, name, [*block[:first], *_with_marks(block[first:])])
        for branches in (getattr(node, "handlers", ()), getattr(node, "cases", ())):
            for number, branch in enumerate(branches, 1):
                branch.body[:0] = [_mark(_first_line(each)) for each in branches[:number]]
    return tree


def _docstring(node: ast.AST, block: list[ast.stmt]) -> int:
    """Returns 1 where the block begins with a docstring, which has to stay the first statement, and else 0."""
    return int(isinstance(node, _WITH_DOCSTRING) and ast.get_docstring(node, clean=False) is not None and bool(block))


def _first_line(branch: ast.ExceptHandler | ast.match_case) -> int:
    return branch.lineno if isinstance(branch, ast.ExceptHandler) else branch.pattern.lineno


def _with_marks(block: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in block:
        marks = [_mark(line) for line in _lines(statement)]
        # What comes from the future has to come before everything else.
        is_future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        yield from [statement, *marks] if is_future else [*marks, statement]


def _lines(statement: ast.stmt) -> Iterator[int]:
    """Yields the lines at which a statement begins: a function and a class begin at each decorator, too."""
    yield from (each.lineno for each in getattr(statement, "decorator_list", ()))
    yield statement.lineno


def _mark(line: int) -> ast.stmt:
    """Returns the statement that notes `line`."""
    place = ast.Subscript(ast.Name(_LINES, ast.Load()), ast.Constant(line), ast.Store())
    mark = ast.Assign([place], ast.Constant(True), lineno=line, end_lineno=line, col_offset=0, end_col_offset=0)
    return ast.fix_missing_locations(mark)


class MarkingLoader(SourceFileLoader):
    """A loader of one module from its source, with marks. Nothing is kept on disk. `lines` says of each line whether it has run."""

    def __init__(self, name: str, path: str) -> None:
        super().__init__(name, path)
        self._source = self.get_data(path)
        self.lines = [False] * (self._source.count(b"\n") + 2)

    def get_code(self, fullname: str) -> CodeType:
        """Returns the code with marks."""
        code: CodeType = compile(marked(self._source), self.path, "exec", dont_inherit=True)
        return code

    def exec_module(self, module: ModuleType) -> None:
        """Runs the module, which finds its lines by their name."""
        setattr(module, _LINES, self.lines)
        super().exec_module(module)


class MarkedModules(MetaPathFinder):
    """The finder of the modules of some packages, which gives them marks. Others are found as ever."""

    def __init__(self, packages: Sequence[str]) -> None:
        self._packages = frozenset(packages)
        self._loaders: list[MarkingLoader] = []

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Returns how to load a module of these packages; None for others."""
        if fullname.partition(".")[0] not in self._packages:
            return None
        finders = (finder.find_spec for finder in sys.meta_path if finder is not self)
        spec = next(filter(None, (find(fullname, path, target) for find in finders)), None)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = MarkingLoader(fullname, spec.loader.path)
            self._loaders.append(spec.loader)
        return spec

    def taken(self) -> dict[str, list[int]]:
        """Returns the lines that have run since the last call, by path, and forgets them."""
        found = {each.path: [line for line, ran in enumerate(each.lines) if ran] for each in self._loaders}
        for each in self._loaders:
            each.lines[:] = [False] * len(each.lines)
        return {path: lines for path, lines in found.items() if lines}
