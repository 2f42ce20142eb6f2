"""`segue rules`: look at a rule file, and ask why a verdict is as it is."""

from pathlib import Path
from typing import Final

import click
import msgspec
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from infra.kernel.errors import ConfigError
from infra.kernel.suggestion import suggest
from infra.kernel.topics import Kind
from rule_engine.explanation import ExplainedVerdict, Finding
from rule_engine.facts import CLASSES, CLASSES_OF, EXAMPLES, FACTS, Facts
from rule_engine.load import default_text, load
from rule_engine.rules import Rule, RuleSet
from rule_engine.verdict import Verdict

from .palette import GREEN, QUIET

_FILE: Final = click.Path(path_type=Path, dir_okay=False)
_EFFECTS: Final = {"then": "", "never": "never ", "after_quiet": "after quiet hours: ", "digest": "in the digest: "}


@click.group()
def rules() -> None:
    """Check a rule file, or ask why a verdict is as it is (docs/rules.md)."""


@rules.command()
@click.argument("file", type=_FILE, required=False)
def check(file: Path | None) -> None:
    """Say what is wrong with a rule FILE, or show its rules. Without FILE: the default rules."""
    found = _load(file)
    table = Table("rule", "when", "what", box=box.SIMPLE_HEAD, title=f"{len(found.rules)} rules", title_justify="left")
    for rule in found.rules:
        table.add_row(rule.name, str(rule.when), _effects(rule))
    console = Console()
    console.print(table)
    console.print(Text(", ".join(f"{name} {value}" for name, value in found.settings.numbers.items()), style=QUIET))


@rules.command()
@click.option("--rules", "file", type=_FILE, help="A rule file; the default rules without it.")
@click.option("--topic", required=True, type=click.Choice(list(map(str, CLASSES_OF))), help="What the event is about.")
@click.option("--class", "cls", type=click.Choice(CLASSES), help="Class of the notification; may be left out if the topic has only one.")
@click.option("--fact", "facts", multiple=True, metavar="NAME=VALUE", help="As in desktop=true; may be repeated. The rest is false or 0.")
def explain(file: Path | None, topic: str, cls: str | None, facts: tuple[str, ...]) -> None:
    """Decide about one event and one follower, and show why."""
    known = _facts(topic, cls, facts)
    show(_load(file).explain(known), Console())


def show(explanation: ExplainedVerdict, console: Console) -> None:
    """Prints the verdict, and for each rule whether it matched, or which of its conditions failed."""
    console.print(Text(_verdict(explanation.verdict), style=GREEN))
    console.print(Text(f"because {', '.join(explanation.verdict.reasons) or 'no rule granted anything'}"))
    table = Table("", "rule", "why not", box=box.SIMPLE_HEAD)
    for finding in explanation.findings:
        table.add_row(_mark(finding), finding.name, "; ".join(finding.failed), style="" if finding.matched else QUIET)
    console.print(table)


def _mark(finding: Finding) -> str:
    return "yes" if finding.matched else "no"


def _verdict(verdict: Verdict) -> str:
    live, row = ("yes" if granted else "no" for granted in (verdict.engine, verdict.in_client))
    return f"engine {live}, in-client {row}, push {verdict.push}, email {verdict.email}, webhook {verdict.webhook}"


def _effects(rule: Rule) -> str:
    channels = {lead: getattr(rule, key) for key, lead in _EFFECTS.items()}
    return "; ".join(f"{lead}{', '.join(found)}" for lead, found in channels.items() if found)


def _load(file: Path | None) -> RuleSet:
    if file is None:
        return load(default_text(), "default rules")
    try:
        return load(file.read_text(encoding="utf-8"), str(file))
    except UnicodeDecodeError as error:
        raise ConfigError(f"{file}: is not UTF-8 at byte {error.start}") from None
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read: {error.strerror}") from None


def _facts(topic: str, cls: str | None, given: tuple[str, ...]) -> Facts:
    """Returns the facts of which the options speak. Raises UsageError."""
    return msgspec.convert({"topic": topic, "class": _class(Kind(topic), cls), **dict(map(_fact, given))}, Facts)


def _class(topic: Kind, cls: str | None) -> str:
    classes = CLASSES_OF[topic]
    if cls is None and len(classes) == 1:
        return classes[0]
    if cls not in classes:
        raise click.UsageError(f"--topic {topic} goes with --class {', '.join(filter(None, classes)) or 'left out'}")
    return cls


def _fact(given: str) -> tuple[str, object]:
    name, divider, value = given.partition("=")
    names = [fact for fact in FACTS if fact not in ("topic", "class")]
    if not divider:
        raise click.UsageError(f"--fact {given}: must be NAME=VALUE, as in desktop=true")
    if name not in names:
        raise click.UsageError(f"--fact {given}: no such fact; {suggest(name, names)}")
    try:
        return name, msgspec.convert(value, FACTS[name].type, strict=False)
    except msgspec.ValidationError:
        raise click.UsageError(f"--fact {given}: must be {EXAMPLES[FACTS[name].type]}") from None
