"""The metric tables of all roles, for an admin door over any of them."""

from typing import Final

from accesspoint.metrics import METRICS as ACCESSPOINT
from aggregator.metrics import METRICS as AGGREGATOR
from broker.metrics import METRICS as BROKER
from notification.metrics import METRICS as NOTIFICATION
from services.presence.metrics import METRICS as PRESENCE

METRICS: Final = (*BROKER, *AGGREGATOR, *ACCESSPOINT, *PRESENCE, *NOTIFICATION)
