"""Segments: the files of one writer of a trace, and its manifest. They block, and belong to the thread of one `Capture`.

A file appears under its name when all of it is there, and is never replaced. A process that starts again goes on counting. pyarrow is
imported here when a capture opens, and nowhere else in the runtime.
"""

import re
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgspec

from infra.kernel.capture import Numbers, Rows
from infra.kernel.errors import ConfigError
from infra.kernel.manifest import Manifest, TableInfo, decode
from infra.kernel.trace import TABLES

from ..private_folder import make_private

PSEUDONYMISATION: Final = "keyed BLAKE2b, key not kept with the trace"
NOTE: Final = "captured: subscription_log tells of connections that subscribe and leave, and of lasting follows that no connection made"

_STRANGE: Final = re.compile(r"[^A-Za-z0-9._-]")


class Segments:
    """The files of `writer` at `site` in the folder `path`.

    Raises ConfigError when pyarrow is missing or the folder cannot be used.
    """

    def __init__(self, path: Path, writer: str, site: str, numbers: Numbers, now_ms: int) -> None:
        arrow = _arrow()
        self._site, self._numbers = site, numbers
        self._path, self._writer = path, _STRANGE.sub("_", writer)
        self._manifest_path = path / f"manifest-{self._writer}.json"
        try:
            make_private(path)
            self._manifest = self._found(now_ms)
            self._dropped_before = self._manifest.dropped
            self._number = max((int(each.stem.rpartition("-")[2]) for table in TABLES for each in self._files(table)), default=0)
        except OSError as error:
            raise ConfigError(f"capture.path: {path} cannot be used: {error.strerror or error}; choose another folder") from None
        except arrow.ArrowInvalid as error:
            raise ConfigError(f"capture.path: {path} has a file that is damaged; move it away or choose another folder: {error}") from None

    def _found(self, now_ms: int) -> Manifest:
        """Returns the manifest of what is there already."""
        # The files are the truth: a process may have died between a file and its manifest.
        tables = {table: TableInfo(rows=rows) for table in TABLES if (rows := sum(map(_rows_in, self._files(table))))}
        if self._manifest_path.exists():
            before = decode(self._manifest_path.read_bytes(), str(self._manifest_path))
            return msgspec.structs.replace(before, tables=tables)
        return Manifest(
            name=self._path.resolve().name,
            origin="captured",
            source="a running Segue",
            start_ms=now_ms,
            end_ms=now_ms,
            pseudonymisation=PSEUDONYMISATION,
            sites=(self._site,),
            tables=tables,
            notes=(NOTE,),
        )

    def _files(self, table: str) -> list[Path]:
        """Returns the files of this writer: those of ap1, and none of ap1-2."""
        mine = re.compile(rf"part-{re.escape(self._writer)}-[0-9]+\.parquet")
        return [each for each in (self._path / table).glob("*.parquet") if mine.fullmatch(each.name)]

    def write(self, rows: dict[str, Rows], dropped: Mapping[str, int], end_ms: int) -> None:
        """Writes a file for each table, then the manifest, which ends at `end_ms`. What was written is taken out of `rows`.

        `dropped`: by table, since this process has started. Raises OSError; then the manifest tells of what is there.
        """
        try:
            for table in list(rows):
                self._write(table, rows[table])
                del rows[table]
        finally:
            self._tell(dropped, end_ms)

    def _write(self, table: str, rows: Rows) -> None:
        import pyarrow.parquet as pq

        from .columns import MAKERS

        columns = MAKERS[table](rows, self._numbers, self._site)
        self._number += 1
        folder, name = self._path / table, f"part-{self._writer}-{self._number:06}.parquet"
        growing = folder / f".{name}.partial"
        try:
            folder.mkdir(exist_ok=True)
            pq.write_table(columns, growing, compression="zstd")
            growing.rename(folder / name)
        except OSError:
            with suppress(OSError):
                growing.unlink()
            raise
        before = self._manifest.tables.get(table, TableInfo(rows=0))
        tables = self._manifest.tables | {table: TableInfo(rows=before.rows + columns.num_rows)}
        self._manifest = msgspec.structs.replace(self._manifest, tables=tables)

    def _tell(self, dropped: Mapping[str, int], end_ms: int) -> None:
        lost = Counter(self._dropped_before)
        lost.update(dropped)
        self._manifest = msgspec.structs.replace(self._manifest, end_ms=end_ms, dropped={name: n for name, n in lost.items() if n})
        growing = self._manifest_path.with_name(f".{self._manifest_path.name}.partial")
        growing.write_bytes(self._manifest.encode())
        growing.rename(self._manifest_path)


def _arrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet  # now: the first segment must not wait for it
    except ImportError:
        raise ConfigError("a capture needs pyarrow: pip install 'segue[analytics]', or leave capture.path empty") from None
    return pyarrow


def _rows_in(file: Path) -> int:
    import pyarrow.parquet as pq

    return int(pq.read_metadata(file).num_rows)
