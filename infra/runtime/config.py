"""TOML file and command line -> one frozen options struct per role, read once at start (design 9).

A schema is a keyword-only `msgspec.Struct` whose fields are the tables of the file. Whatever is wrong with what the operator wrote is a
`ConfigError` that names the file, the dotted key, and what would be right. Besides the types that msgspec knows, a field may be an
`Address` or a `Path`. Both are strings in the file; a relative path counts from the working directory. Every struct of a schema may have
a `check(self) -> None` that raises `ConfigError` where its fields do not fit together.
"""

import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar, runtime_checkable

import msgspec
from msgspec import inspect

from infra.kernel.errors import ConfigError
from infra.kernel.suggestion import suggest

from .address import Address

__all__ = ["Address", "load"]

T = TypeVar("T", bound=msgspec.Struct)

_READERS: Final[dict[type, Callable[[str], object]]] = {Address: Address.parse, Path: Path}
_MISSING: Final = re.compile(r"Object missing required field `(.+)`")


@runtime_checkable
class _Checked(Protocol):
    def check(self) -> None: ...


def load(path: Path | None, schema: type[T], overrides: Mapping[str, str] = {}) -> T:
    """Returns the options in the file at `path`; without a file, the defaults of `schema`.

    `overrides` are dotted keys with TOML literals, as in `--set broker.heartbeat_s=0.2`; they win over the file. Raises `ConfigError`
    for a file that cannot be read, an unknown key, a missing key, a wrong type and a failed `check`.
    """
    try:
        tables = _read(path) if path else {}
        for key, literal in overrides.items():
            _override(tables, key, literal)
        _refuse_unknown(tables, inspect.type_info(schema), "")
        options = _convert(tables, schema)
        _check(options)
    except ConfigError as error:
        raise ConfigError(f"{path or 'command line'}: {error}") from None
    return options


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"is not UTF-8 at byte {error.start}") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"is not TOML: {error}") from None


def _override(tables: dict[str, Any], key: str, literal: str) -> None:
    *parents, name = key.split(".")
    table = tables
    for parent in parents:
        table = table.setdefault(parent, {})
        if not isinstance(table, dict):
            raise ConfigError(f"--set {key}: {parent} is not a table")
    try:
        table[name] = tomllib.loads(f"value = {literal}")["value"]
    except tomllib.TOMLDecodeError:
        raise ConfigError(f"--set {key}={literal}: not a TOML value; a text needs quotes: --set '{key}=\"{literal}\"'") from None


def _refuse_unknown(value: object, expected: inspect.Type, at: str) -> None:
    """Raises ConfigError for a key that the schema does not have, with its dotted name and the nearest known one.

    msgspec could refuse unknown fields itself, and would tell neither.
    """
    match expected, value:
        case inspect.StructType(fields=fields), dict():
            known = {field.encode_name: field.type for field in fields}
            for key, inner in value.items():
                if key not in known:
                    raise ConfigError(f"unknown key {_dotted(at, key)}; {suggest(key, sorted(known))}")
                _refuse_unknown(inner, known[key], _dotted(at, key))
        case inspect.DictType(value_type=inner_type), dict():
            for key, inner in value.items():
                _refuse_unknown(inner, inner_type, _dotted(at, key))
        case ((inspect.ListType(item_type=inner_type) | inspect.VarTupleType(item_type=inner_type)), list()):
            for index, inner in enumerate(value):
                _refuse_unknown(inner, inner_type, f"{at}[{index}]")
        case inspect.UnionType(types=types), _:
            for alternative in types:
                _refuse_unknown(value, alternative, at)


def _dotted(at: str, key: str) -> str:
    return f"{at}.{key}" if at else key


def _convert(tables: dict[str, Any], schema: type[T]) -> T:
    try:
        return msgspec.convert(tables, schema, dec_hook=_read_custom)
    except msgspec.ValidationError as error:
        complaint, _, at = str(error).replace("`$.", "`").partition(" - at ")
        at = at.strip("`")
        missing = _MISSING.fullmatch(complaint)
        if missing:
            raise ConfigError(f"missing key {_dotted(at, missing[1])}") from None
        raise ConfigError(f"{at} = {_value_at(tables, at)}: {complaint.replace('`object`', 'table').replace('`', '')}") from None


def _read_custom(kind: type, value: object) -> object:
    """Returns `value` as a type that msgspec does not know. Raises ValueError: msgspec adds the key to that, and to nothing else."""
    if not isinstance(value, str):
        raise ValueError(f"Expected `str`, got `{type(value).__name__}`")
    try:
        return _READERS[kind](value)
    except ConfigError as error:
        raise ValueError(str(error)) from None


def _value_at(tables: dict[str, Any], at: str) -> str:
    """Returns what the file has at `at`, as text; `...` where msgspec does not say which key of a free-form table it was."""
    found: Any = tables
    for part in re.findall(r"[^.\[\]]+|\.\.\.", at):
        try:
            found = found[int(part) if isinstance(found, list) else part]
        except (KeyError, TypeError, ValueError):
            return "..."
    return repr(found)


def _check(value: object) -> None:
    if isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            _check(getattr(value, name))
        if isinstance(value, _Checked):
            value.check()
    elif isinstance(value, Mapping):
        for inner in value.values():
            _check(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            _check(inner)
