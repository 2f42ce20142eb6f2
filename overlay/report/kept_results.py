"""Results of studies that are kept on disk, so that a report which was broken off goes on where it was.

A result is of the code that found it: its file is named by a digest of all modules of this package that the study imports, and of theirs.
Drawing has the same code, so a changed plot costs a run.
"""

import ast
from collections.abc import Iterator
from hashlib import sha256
from importlib.util import find_spec, resolve_name
from pathlib import Path

import msgspec

from ..simulator.places import own_places
from .study import OverlayStudy, StudyResult, StudyScale


def get(study: OverlayStudy, scale: StudyScale, seed: int, place: Path | None = None) -> StudyResult | None:
    """Returns what the study found at this `scale` with this `seed`, or None if that is not known of its present code.

    `place`: the folder of results, else the usual one.
    """
    for each in [place] if place else own_places("studies"):
        try:
            return msgspec.json.decode((each / _name(study, scale, seed)).read_bytes(), type=StudyResult)
        except (OSError, msgspec.DecodeError):
            continue
    return None


def put(study: OverlayStudy, scale: StudyScale, seed: int, result: StudyResult, place: Path | None = None) -> None:
    """Keeps a result in the first folder that can be written, in place of older ones of the same study and scale; see `get`.

    A file that is broken off is no result, because it cannot be read.
    """
    for each in [place] if place else own_places("studies"):
        try:
            each.mkdir(parents=True, exist_ok=True)
            for old in each.glob(f"{study.key}-{scale}-{seed}-*.json"):
                old.unlink()
            (each / _name(study, scale, seed)).write_bytes(msgspec.json.encode(result))
        except OSError:
            continue
        return


def code_digest(module: str) -> str:
    """Returns a digest of the source of `module`, and of all modules of its package that it imports, directly or not."""
    found: dict[str, bytes] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        spec = find_spec(name) if name not in found else None
        if spec is None or spec.origin is None:
            continue
        found[name] = Path(spec.origin).read_bytes()
        home = name.partition(".")[0]
        waiting += [each for each in _imported(found[name], spec.parent or "") if each.partition(".")[0] == home]
    told = sha256()
    for name in sorted(found):
        told.update(repr((name, found[name])).encode())
    return told.hexdigest()


def _imported(source: bytes, package: str) -> Iterator[str]:
    """Yields the names of what may be modules, among all that `source` imports."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = resolve_name("." * node.level + (node.module or ""), package) if node.level else node.module or ""
            yield origin
            yield from (f"{origin}.{each.name}" for each in node.names if _is_module(f"{origin}.{each.name}"))


def _is_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # what stands before the last dot is no package
        return False


def _name(study: OverlayStudy, scale: StudyScale, seed: int) -> str:
    return f"{study.key}-{scale}-{seed}-{code_digest(study.run.__module__)[:24]}.json"
