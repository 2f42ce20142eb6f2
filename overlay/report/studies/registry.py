"""All studies, in the order of the page."""

from typing import Final

from ..study import OverlayStudy

STUDIES: Final[tuple[OverlayStudy, ...]] = ()
