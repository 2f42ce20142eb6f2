"""The names of roles: in hellos, in tables of configuration files, in metrics and logs."""

from typing import Final

ACCESSPOINT: Final = "accesspoint"
AGGREGATOR: Final = "aggregator"
ARTIST: Final = "artist"
BROKER: Final = "broker"
DECISION: Final = "decision"
NOTIFICATION: Final = "notification"
PLAYLIST: Final = "playlist"
PRESENCE: Final = "presence"
SOCIAL: Final = "social"
