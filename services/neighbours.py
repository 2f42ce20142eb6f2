"""The neighbours of a publisher service: whom it reaches by itself."""

from typing import NamedTuple

from broker.client import SiteClient
from infra.runtime.loops import Loops

from .intake_client import IntakeClient
from .peers import ServicePeers


class Neighbours(NamedTuple):
    """The neighbours of one service.

    - `brokers`: take its events.
    - `peers`: other services of the site, which it calls.
    - `notifier`: hands notifications to the notification module.
    - `loops`: run what the service does again and again.
    """

    brokers: SiteClient
    peers: ServicePeers
    notifier: IntakeClient
    loops: Loops
