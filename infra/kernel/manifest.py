"""The manifest of a trace: where it comes from, which period it covers, and which tables hold everything and which a sample.

A trace that several nodes captured has one file for each of them, `manifest-<node>.json`. Readers merge them.
"""

import json
from functools import reduce
from typing import Any, Final, Literal

import msgspec

from .errors import ConfigError
from .trace import TABLES, VERSION

FORMAT: Final = "segue.trace"
MANIFEST: Final = "manifest.json"
MANIFESTS: Final = "manifest*.json"


class TableInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of a table: so many `rows`, which are a `fraction` of all.

    `sampled_by`: each row was chosen for itself, or each user with all their rows.
    """

    rows: int
    fraction: float = 1.0
    sampled_by: Literal["row", "user"] = "row"


class Manifest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The description of one trace.

    - `start_ms`, `end_ms`: the period, the end exclusive, in Unix milliseconds; None where the source has no times.
    - `time_zone`: an IANA name; hours of the day are told in it.
    - `scale`: the size, as a share of the profile that was generated.
    - `limits`: metric or figure -> why this source cannot support it.
    - `notes`: what a reader must know to believe the figures.
    - `dropped`: rows that a capture could not keep, by table.
    """

    format: str = FORMAT
    version: int = VERSION
    name: str
    origin: Literal["captured", "imported", "generated"]
    source: str
    profile: Literal["spotify", "twitter"] | None = None
    scale: float | None = None
    seed: int | None = None
    start_ms: int | None = None
    end_ms: int | None = None
    time_zone: str = "UTC"
    pseudonymisation: str
    sites: tuple[str, ...] = ()
    tables: dict[str, TableInfo] = {}
    limits: dict[str, str] = {}
    notes: tuple[str, ...] = ()
    dropped: dict[str, int] = {}

    def encode(self) -> bytes:
        """Returns the bytes of the file. The same manifest gives the same bytes."""
        return json.dumps(msgspec.to_builtins(self), indent=2, ensure_ascii=False).encode() + b"\n"


def decode(text: bytes, where: str) -> Manifest:
    """Returns the manifest in `text`. Raises ConfigError that begins with `where` and says what is wrong."""
    try:
        _check_format(json.loads(text), where)
        manifest = msgspec.json.decode(text, type=Manifest)
    except (msgspec.DecodeError, ValueError) as error:
        raise ConfigError(f"{where}: is no manifest of a trace: {error}") from None
    if unknown := manifest.tables.keys() - TABLES.keys():
        raise ConfigError(f"{where}: there is no table {sorted(unknown)[0]!r}; tables are {', '.join(TABLES)}")
    return manifest


def merge(parts: list[Manifest]) -> Manifest:
    """Returns one manifest of what several nodes captured at the same time. `parts` is not empty."""
    return reduce(_merged, parts)


def _check_format(found: Any, where: str) -> None:
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise ConfigError(f'{where}: is no manifest of a trace: it must say "format": "{FORMAT}"')
    if found.get("version") != VERSION:
        raise ConfigError(f"{where}: is version {found.get('version')} of the trace, and this program reads version {VERSION}")


def _merged(one: Manifest, other: Manifest) -> Manifest:
    starts = [each for each in (one.start_ms, other.start_ms) if each is not None]
    ends = [each for each in (one.end_ms, other.end_ms) if each is not None]
    tables = {name: _added(one.tables.get(name), other.tables.get(name)) for name in TABLES if name in one.tables | other.tables}
    return msgspec.structs.replace(
        one,
        start_ms=min(starts, default=None),
        end_ms=max(ends, default=None),
        sites=tuple(sorted({*one.sites, *other.sites})),
        tables=tables,
        limits=one.limits | other.limits,
        notes=tuple(dict.fromkeys((*one.notes, *other.notes))),
        dropped={name: one.dropped.get(name, 0) + other.dropped.get(name, 0) for name in one.dropped | other.dropped},
    )


def _added(one: TableInfo | None, other: TableInfo | None) -> TableInfo:
    if one is None or other is None:
        found = one or other
        assert found is not None
        return found
    return msgspec.structs.replace(one, rows=one.rows + other.rows)
