"""The page of a satisfaction study."""

from ..satisfaction.study import SatisfactionStudy
from .page import drawn, page, tabled
from .satisfaction_plots import figures
from .satisfaction_tables import sheets, short, told
from .sheet import percent


def render(study: SatisfactionStudy) -> str:
    """Returns the page."""
    return page(
        study,
        "whom to serve",
        (percent(study.capacity / study.full_capacity), "of the full capacity"),
        [told(study)],
        [*tabled({"answers": short(study)} | sheets(study)), *drawn(figures(study))],
    )
