"""All studies, in the order of the page."""

from typing import Final

from ..study import OverlayStudy
from .churn import CHURN
from .compare import COMPARE
from .convergence import CONVERGENCE
from .dissemination import DISSEMINATION
from .gossipsub import GOSSIPSUB
from .graphs import GRAPHS
from .harm import HARM
from .recovery import RECOVERY
from .rules import RULES
from .sizes import SIZES
from .upkeep import UPKEEP

STUDIES: Final[tuple[OverlayStudy, ...]] = (
    GRAPHS,
    CONVERGENCE,
    RULES,
    DISSEMINATION,
    UPKEEP,
    CHURN,
    RECOVERY,
    HARM,
    SIZES,
    COMPARE,
    GOSSIPSUB,
)
