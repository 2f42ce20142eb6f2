"""The metric tables of all roles, for an admin door over any of them."""

from typing import Final

from accesspoint.metrics import METRICS as ACCESSPOINT
from aggregator.metrics import METRICS as AGGREGATOR
from broker.metrics import METRICS as BROKER
from infra.runtime.capture.capture import METRICS as CAPTURE
from infra.runtime.loops import METRICS as LOOPS
from notification.metrics import METRICS as NOTIFICATION
from services.artist.metrics import METRICS as ARTIST
from services.decision.metrics import METRICS as DECISION
from services.playlist.metrics import METRICS as PLAYLIST
from services.presence.metrics import METRICS as PRESENCE
from services.social.metrics import METRICS as SOCIAL

METRICS: Final = (*BROKER, *AGGREGATOR, *ACCESSPOINT, *PRESENCE, *NOTIFICATION, *PLAYLIST, *SOCIAL, *ARTIST, *DECISION, *CAPTURE, *LOOPS)
