"""The maker of odd inputs: it changes good ones, as bytes and as JSON. The same generator makes the same inputs."""

import json
import random
from collections.abc import Callable, Sequence
from typing import Any, Final

MAX_BYTES: Final = 16 << 10
MOST_CHANGES: Final = 4

# Bytes at the edges of what formats count with, and what is special in one of them.
PIECES: Final = (
    b"",
    b"\0",
    b"\xff",
    b"\x7f",
    b"\x80",
    b"\xff\xff\xff\xff",
    b"\x7f\xff\xff\xff",
    b"\r\n",
    b"\n",
    b".",
    b"=",
    b"[" * 40,
    b"{" * 40,
    b"\xed\xa0\x80",
    b"\xe2\x80\xae",
    b"\xef\xbb\xbf",
    b"\x1b[2J",
    b"1e999",
    b"NaN",
    b'"',
    b"\\",
    b"\\ud800",
    b"\\u0000",
    b"-1",
    b"9" * 20,
    b"9" * 400,
)
# Values where others are expected. `_RAW` stands for text that no encoder of JSON would write.
_RAW: Final = "\u0001raw:"
VALUES: Final[tuple[Any, ...]] = (
    None,
    True,
    False,
    0,
    -1,
    1,
    2**31,
    2**53 - 1,
    2**53,
    2**63,
    2**64,
    10**400,
    0.5,
    -0.0,
    1e308,
    "",
    "a",
    "\0",
    "\ud800",
    "\u202ealice",
    "\x1b[2J",
    "../../etc/passwd",
    "x" * 129,
    "x" * 5000,
    "1",
    "hm://presence/user/alice/",
    "hm://presence/user/*/",
    [],
    {},
    [[]],
    [None],
    {"": {}},
    _RAW + "1e999",
    _RAW + "-1e999",
    _RAW + "NaN",
    _RAW + "1E-999",
    _RAW + "[" * 200 + "]" * 200,
    _RAW + "9" * 5000,
    _RAW + '"\\ud800"',
)


class Mutator:
    """A maker of inputs out of `seeds` and `words`, which are pieces that mean something to the target."""

    def __init__(self, seeds: Sequence[bytes], words: Sequence[bytes], rng: random.Random) -> None:
        self.seeds = list(seeds)
        self._words, self._rng = (*PIECES, *words), rng
        self._changes: tuple[Callable[[bytes], bytes], ...] = (
            self._flip,
            self._insert,
            self._replace,
            self._cut,
            self._repeat,
            self._splice,
            self._change_json,
            self._change_json,
            self._change_line,
        )

    def make(self) -> bytes:
        """Returns the next input."""
        data = self._rng.choice(self.seeds)
        for _ in range(self._rng.randint(1, MOST_CHANGES)):
            data = self._rng.choice(self._changes)(data)
        return data[:MAX_BYTES]

    def _range(self, data: bytes) -> tuple[int, int]:
        start = self._rng.randint(0, len(data))
        return start, min(len(data), start + self._rng.choice((1, 1, 2, 4, 16, 256)))

    def _flip(self, data: bytes) -> bytes:
        if not data:
            return data
        at = self._rng.randrange(len(data))
        return data[:at] + bytes([data[at] ^ 1 << self._rng.randrange(8)]) + data[at + 1 :]

    def _insert(self, data: bytes) -> bytes:
        at = self._rng.randint(0, len(data))
        return data[:at] + self._rng.choice(self._words) + data[at:]

    def _replace(self, data: bytes) -> bytes:
        start, end = self._range(data)
        return data[:start] + self._rng.choice(self._words) + data[end:]

    def _cut(self, data: bytes) -> bytes:
        start, end = self._range(data)
        return data[:start] + data[end:]

    def _repeat(self, data: bytes) -> bytes:
        start, end = self._range(data)
        return data[:end] + data[start:end] * self._rng.choice((1, 2, 64)) + data[end:]

    def _splice(self, data: bytes) -> bytes:
        other = self._rng.choice(self.seeds)
        return data[: self._rng.randint(0, len(data))] + other[self._rng.randint(0, len(other)) :]

    def _change_line(self, data: bytes) -> bytes:
        lines = data.split(b"\n")
        at = self._rng.randrange(len(lines))
        lines[at] = self._change_json(lines[at])
        return b"\n".join(lines)

    def _change_json(self, data: bytes) -> bytes:
        """Returns `data` with something changed in the JSON that it ends with; `data` itself where there is none."""
        start = min((at for at in (data.find(b"{"), data.find(b"[")) if at >= 0), default=-1)
        try:
            document = json.loads(data[start:]) if start >= 0 else None
        except (ValueError, RecursionError):
            return data
        if document is None:
            return data
        return data[:start] + _written(self._changed(document))

    def _changed(self, value: Any) -> Any:
        """Returns `value` with one thing changed, somewhere in it."""
        inner = list(value.items() if isinstance(value, dict) else enumerate(value)) if isinstance(value, dict | list) else []
        if not inner or self._rng.random() < 0.1:
            return self._rng.choice(VALUES)
        key, one = self._rng.choice(inner)
        kind = self._rng.randrange(6)
        if isinstance(value, list):
            changed = self._changed(one)
            return value[:key] + ([], [changed, changed], [one] * 50, *([[changed]] * 3))[kind] + value[key + 1 :]
        others = {name: each for name, each in value.items() if name != key}
        if kind == 0:
            return others
        if kind == 1:
            return others | {f"{_RAW}{json.dumps(key)}:{json.dumps(one)},{json.dumps(key)}": self._rng.choice(VALUES)}
        return value | {key: self._changed(one)}


def _written(value: Any) -> bytes:
    """Returns `value` as JSON, or as what only looks like it."""
    if isinstance(value, str) and value.startswith(_RAW):
        return value.removeprefix(_RAW).encode()
    if isinstance(value, dict):
        return b"{%b}" % b",".join(b"%b:%b" % (_written(name), _written(each)) for name, each in value.items())
    if isinstance(value, list):
        return b"[%b]" % b",".join(map(_written, value))
    return json.dumps(value).encode()
