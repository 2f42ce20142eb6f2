"""The last section of a report: how it was made, and how to make it again."""

from shlex import quote
from typing import Final

from analytics.numbers import number
from analytics.summary import WorkloadSummary
from infra.kernel.html import Html, joined

from .markup import element, table

_FLAGS: Final = {"memory_gb": "--memory"}


def making(summary: WorkloadSummary) -> Html:
    """Returns the commands, the options, and how long each step took."""
    options = [(name, _option(value)) for name, value in summary.settings.items()]
    timings = [(name, f"{seconds:.1f} s") for name, seconds in summary.timings_s.items()]
    return joined(
        element("pre", element("code", "\n".join(commands(summary)))),
        *_titled("Options", table(("option", "value"), options) if options else Html()),
        *_titled("Time", table(("step", "took"), timings, kind="numbers") if timings else Html()),
    )


def commands(summary: WorkloadSummary) -> list[str]:
    """Returns the commands to type for this report. TRACE stands for the folder of the trace."""
    about = summary.manifest
    found = []
    if about.origin == "generated" and about.profile and about.scale is not None and about.seed is not None:
        found.append(f"segue analyze generate --profile {about.profile} --scale {about.scale} --seed {about.seed} TRACE")
    return [*found, " ".join(["segue analyze characterize TRACE", *map(quote, _flags(summary))])]


def _flags(summary: WorkloadSummary) -> list[str]:
    flags: list[str] = []
    for name, value in summary.settings.items():
        flag = _FLAGS.get(name, f"--{name.replace('_', '-')}")
        if isinstance(value, list):
            flags += [part for each in value for part in (flag, str(each))]
        # Yes or no is no option with a value; what is None was not chosen.
        elif value is not None and not isinstance(value, bool):
            flags += [flag, str(value)]
    return flags


def _option(value: object) -> str:
    if value is None:
        return "not chosen"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "none"
    return number(value) if isinstance(value, int | float) and not isinstance(value, bool) else str(value)


def _titled(title: str, content: Html) -> tuple[Html, ...]:
    return (element("h3", title), content) if content else ()
