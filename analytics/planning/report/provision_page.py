"""The page of a provisioning study."""

from analytics.numbers import number

from ..provisioning.study import ProvisionStudy
from .cheapest import short
from .page import drawn, page, tabled
from .provision_plots import figures
from .provision_tables import bills, by_setting, compared, is_first, moves, offers, told


def render(study: ProvisionStudy) -> str:
    """Returns the page. The bills of the first capacity stand beside their figures."""
    others = [bills(study, setting) for setting in by_setting(study) if not is_first(study, setting)]
    sheets = {"compared": compared(study), "offers": offers(study), "moves": moves(study)}
    sheets |= {f"bills-{place}": sheet for place, sheet in enumerate(others)}
    return page(
        study,
        "how many machines",
        (number(study.hours), "hours"),
        [told(study), f"Prices: {study.book_source}."],
        [*tabled({"answers": short(study)}), *drawn(figures(study)), *tabled(sheets)],
    )
