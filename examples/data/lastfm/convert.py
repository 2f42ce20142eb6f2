"""Makes this folder's tables from the published HetRec 2011 Last.fm files (or from the same files compressed with gzip).

    python convert.py FOLDER [--out DIR]

FOLDER holds `user_friends.dat`, `user_artists.dat`, `artists.dat` and `readme.txt`, each as published or as NAME.gz.
The same input gives the same bytes: rows are sorted by their ids and gzip carries neither a time nor a file name.
"""

import argparse
import gzip
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple


class Table(NamedTuple):
    """A table: where it comes from, where it goes, its header, and how many of its first columns are integer ids."""

    source: str
    target: str
    header: tuple[str, ...]
    ids: int


TABLES = (
    Table("user_friends.dat", "friends.tsv.gz", ("user", "friend"), 2),
    Table("user_artists.dat", "plays.tsv.gz", ("user", "artist", "plays"), 2),
    Table("artists.dat", "artists.tsv.gz", ("artist", "name"), 1),
)


def published(folder: Path, name: str) -> bytes:
    """Returns the bytes of a published file in `folder`, found as `name` or as `name.gz`."""
    plain, packed = folder / name, folder / f"{name}.gz"
    if plain.exists():
        return plain.read_bytes()
    if packed.exists():
        return gzip.decompress(packed.read_bytes())
    sys.exit(f"{folder} has neither {name} nor {name}.gz; name the folder of the unpacked hetrec2011-lastfm-2k.zip")


def rows(text: str, table: Table) -> list[list[str]]:
    """Returns the rows of `text` below the header, cut to the columns of `table` and sorted by their ids."""
    # Not splitlines(): a name may hold a character that Unicode counts as a line end.
    lines = text.replace("\r\n", "\n").rstrip("\n").split("\n")[1:]
    kept = [line.split("\t")[: len(table.header)] for line in lines]
    return sorted(kept, key=lambda row: [int(cell) for cell in row[: table.ids]])


def write_table(path: Path, table: Iterable[Iterable[str]]) -> None:
    """Writes `table` to `path` as tab-separated UTF-8 under gzip, without time and name, so that a repeated conversion changes nothing."""
    text = "".join("\t".join(row) + "\n" for row in table)
    with path.open("wb") as raw, gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=raw, mtime=0) as packed:
        packed.write(text.encode())


def convert(folder: Path, out: Path) -> None:
    """Writes the three tables and the readme of `folder` into `out`, which is made when missing."""
    out.mkdir(parents=True, exist_ok=True)
    for table in TABLES:
        body = rows(published(folder, table.source).decode("utf-8"), table)
        write_table(out / table.target, [table.header, *body])
        print(f"{table.target}: {len(body)} rows")
    readme = published(folder, "readme.txt").decode("iso-8859-1")
    (out / "readme.txt").write_text(readme, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Make the demo's tables from the published HetRec 2011 Last.fm files.")
    parser.add_argument("folder", type=Path, help="folder of the published files")
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parent, help="where to write (default: beside this script)")
    arguments = parser.parse_args()
    convert(arguments.folder, arguments.out)
