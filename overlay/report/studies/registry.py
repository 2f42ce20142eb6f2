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
from .quasar import QUASAR
from .recovery import RECOVERY
from .rules import RULES
from .scribe import SCRIBE
from .scribe_churn import SCRIBE_CHURN
from .sizes import SIZES
from .upkeep import UPKEEP

STUDIES: Final[tuple[OverlayStudy, ...]] = (
    GRAPHS,
    CONVERGENCE,
    RULES,
    DISSEMINATION,
    UPKEEP,
    SCRIBE,
    CHURN,
    SCRIBE_CHURN,
    RECOVERY,
    HARM,
    SIZES,
    QUASAR,
    COMPARE,
    GOSSIPSUB,
)
