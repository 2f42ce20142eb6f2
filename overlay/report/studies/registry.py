"""All studies, in the order of the page."""

from typing import Final

from ..study import OverlayStudy
from .convergence import CONVERGENCE
from .graphs import GRAPHS

STUDIES: Final[tuple[OverlayStudy, ...]] = (GRAPHS, CONVERGENCE)
