"""The page of a satisfaction study: one file that needs no other."""

from analytics.numbers import number
from analytics.report.document import Entry, document
from analytics.report.markup import Html, element

from ..satisfaction.study import Study
from .page import answered, sheet_section, sizes
from .satisfaction_plots import figures
from .satisfaction_tables import NAMES, compared, more, online, solutions, told, windows
from .sheet import amount, percent, ratio


def render(study: Study) -> str:
    """The page."""
    drawn = figures(study)
    sheets = {"solutions": solutions(study), "compared": compared(study)}
    sheets |= {"windows": windows(study.windows)} if study.windows else {}
    sheets |= {"online": online(study.online)} if study.online else {}
    there = {key: sheet for key, sheet in sheets.items() if sheet.rows}
    return document(
        f"{study.name}: whom to serve",
        [
            Entry("answers", "In short"),
            *(Entry(key, sheet.title) for key, sheet in there.items()),
            *(Entry(each.key, each.title) for each in drawn),
        ],
        _head(study),
        answered([*_answers(study), *more(study)]),
        *(sheet_section(key, sheet) for key, sheet in there.items()),
        *(each.html() for each in drawn),
    )


def _head(study: Study) -> Html:
    return element(
        "header",
        element("p", "Plan: whom to serve", class_="kicker"),
        element("h1", study.name),
        element("p", f"{study.source.rstrip('.')}. Topics of {study.service} that have events and subscribers.", class_="lead"),
        sizes(
            [
                (number(study.topics), "topics"),
                (number(study.subscribers), "subscribers"),
                (number(study.pairs), "pairs"),
                (number(study.events), "events"),
                (percent(study.capacity / study.full_capacity), "of the full capacity"),
            ]
        ),
        element("p", told(study)),
        *(element("p", note, class_="note") for note in study.notes),
    )


def _answers(study: Study) -> list[str]:
    best = {(run.metric, run.threshold): run for run in sorted(study.runs, key=lambda run: run.value)}
    return [
        f"{NAMES[run.metric]}, threshold {run.threshold:,}: {run.algorithm} serves {run.topics:,} topics and comes to {amount(run.value)} "
        f"of {study.subscribers:,} subscribers ({percent(run.share)}); nothing can come to more than {amount(run.best_bound)}, "
        f"so this is {ratio(run.best_ratio)} of the optimum or more."
        for run in sorted(best.values(), key=lambda run: (run.metric, run.threshold))
    ]
