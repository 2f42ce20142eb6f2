"""The page of a provisioning study: one file that needs no other."""

from analytics.numbers import number
from analytics.report.document import Entry, document
from analytics.report.markup import Html, element

from ..provisioning.study import Study
from .page import answered, sheet_section, sizes
from .provision_plots import figures
from .provision_tables import answers, best, bills, by_setting, compared, is_first, moves, offers, told


def render(study: Study) -> str:
    """The page."""
    drawn = figures(study)
    others = [bills(study, setting) for setting in by_setting(study) if not is_first(study, setting)]
    tables = {"compared": compared(study), "offers": offers(study), "moves": moves(study)} | {
        f"bills-{place}": sheet for place, sheet in enumerate(others)
    }
    there = {key: sheet for key, sheet in tables.items() if sheet.rows}
    return document(
        f"{study.name}: how many machines",
        [
            Entry("answers", "In short"),
            *(Entry(each.key, each.title) for each in drawn),
            *(Entry(key, sheet.title) for key, sheet in there.items()),
        ],
        _head(study),
        answered([*best(study), *answers(study)]),
        *(each.html() for each in drawn),
        *(sheet_section(key, sheet) for key, sheet in there.items()),
    )


def _head(study: Study) -> Html:
    return element(
        "header",
        element("p", "Plan: how many machines", class_="kicker"),
        element("h1", study.name),
        element("p", f"{study.source.rstrip('.')}. Topics of {study.service} that have events and subscribers.", class_="lead"),
        sizes(
            [
                (number(study.topics), "topics"),
                (number(study.subscribers), "subscribers"),
                (number(study.pairs), "pairs"),
                (number(study.events), "events"),
                (number(study.hours), "hours"),
            ]
        ),
        element("p", told(study)),
        element("p", f"Prices: {study.book_source}."),
        *(element("p", note, class_="note") for note in study.notes),
    )
