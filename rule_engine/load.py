"""Loading a rule file. Whatever is wrong is said at once, with the rule and the key.

To the rules of every file come the laws (`laws.toml`), which no file can change: no mail to who is online or opted out
(SB-41), no push but to phones (SB-42), no presence event anywhere but live (SB-30), no event live twice (spec 6).
"""

import re
import tomllib
from collections.abc import Iterable
from importlib import resources
from typing import Any, Final

import msgspec

from infra.kernel.errors import ConfigError
from infra.kernel.suggestion import suggest

from .facts import CLASSES
from .reach import is_reachable
from .reader import read_condition
from .rules import Rule, RuleSet
from .settings import Settings
from .verdict import CHANNELS

_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,31}")
# What a rule may do, and to which channels.
_EFFECTS: Final = {"then": CHANNELS, "never": CHANNELS, "after_quiet": ("push", "email"), "digest": ("email",)}
_KEYS: Final = ("name", "when", *_EFFECTS)


def load(text: str, name: str) -> RuleSet:
    """Returns the rules in `text`, with the laws. Raises `ConfigError`, in which `name` says which file is meant."""
    try:
        tables = _tables(text)
        settings = _settings(tables.get("settings", {}))
        rules = [*_rules(_tables(_packaged("laws.toml")), settings), *_rules(tables, settings)]
        _refuse_duplicates([rule.name for rule in rules])
    except ConfigError as error:
        raise ConfigError(f"{name}: {error}") from None
    return RuleSet(rules, settings)


def default_text() -> str:
    """Returns the rules that hold where the operator wrote none: the table of spec section 8 and what users ask for."""
    return _packaged("default.toml")


def _packaged(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _tables(text: str) -> dict[str, Any]:
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"is not TOML: {error}") from None
    _refuse_unknown(tables, ("rule", "settings"), "")
    return tables


def _settings(table: object) -> Settings:
    if not isinstance(table, dict):
        raise ConfigError("settings must be a table: [settings]")
    _refuse_unknown(table, Settings.__struct_fields__, "settings: ")
    try:
        settings = msgspec.convert(table, Settings)
    except msgspec.ValidationError as error:
        complaint, _, at = str(error).partition(" - at ")
        raise ConfigError(f"settings: {at.strip('`').removeprefix('$.')}: {complaint.replace('`', '')}") from None
    _refuse_others(settings.mandatory, CLASSES, "settings: mandatory", "class")
    return settings


def _rules(tables: dict[str, Any], settings: Settings) -> list[Rule]:
    found = tables.get("rule")
    if not isinstance(found, list) or not found or not all(isinstance(table, dict) for table in found):
        raise ConfigError("has no rules; each begins with a line [[rule]]")
    return [_rule(table, number, settings) for number, table in enumerate(found, 1)]


def _rule(table: dict[str, Any], number: int, settings: Settings) -> Rule:
    name = table.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ConfigError(f"rule number {number}: name must be 1 to 32 of a-z 0-9 - with a letter first")
    at = f"rule {name}: "
    _refuse_unknown(table, _KEYS, at)
    effects = {key: _channels(table[key], key, at) for key in _EFFECTS if key in table}
    if not effects:
        raise ConfigError(f"{at}does nothing; give it at least one of {', '.join(_EFFECTS)}")
    when = read_condition(table.get("when"), f"{at}when", settings.numbers)
    if not is_reachable(when):
        raise ConfigError(f"{at}when: no event and follower are ever like this: {when}")
    return Rule(name=name, when=when, **effects)


def _channels(value: object, key: str, at: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(channel, str) for channel in value):
        raise ConfigError(f'{at}{key} must be a list of channels, as in ["{_EFFECTS[key][-1]}"]')
    _refuse_others(value, CHANNELS, f"{at}{key}", "channel")
    for channel in value:
        if channel not in _EFFECTS[key]:
            raise ConfigError(f"{at}{key}: {channel} cannot be put off so; only {', '.join(_EFFECTS[key])} can")
    return tuple(value)


def _refuse_unknown(table: dict[str, Any], known: Iterable[str], at: str) -> None:
    for key in table:
        if key not in known:
            raise ConfigError(f"{at}unknown key {key}; {suggest(key, known)}")


def _refuse_others(words: Iterable[str], known: Iterable[str], at: str, what: str) -> None:
    for word in words:
        if word not in known:
            raise ConfigError(f"{at}: no such {what}: {word}; {suggest(word, known)}")


def _refuse_duplicates(names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"rule {name}: there are two rules with this name (the laws have theirs too); reasons would be unclear")
