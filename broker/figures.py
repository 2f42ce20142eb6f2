"""The figures of a broker: what its parts have counted, under the names of `metrics`."""

from collections.abc import Mapping
from typing import Any

from infra.runtime.capture.capture import Capture
from infra.runtime.node import Node

from .client import SiteClient
from .copies import OwnerCopies
from .core import BrokerCore
from .door import BrokerDoor
from .event_router import EventRouter
from .handover import Handover
from .heirs import Heirs
from .mesh import Mesh
from .offloading import Offloading
from .publication_order import PublicationOrder
from .site_outlets import SiteOutlets


class BrokerFigures:
    """The figures of all parts of one broker."""

    def __init__(
        self,
        *,
        capture: Capture | None,
        copies: OwnerCopies,
        core: BrokerCore,
        door: BrokerDoor,
        far: Mapping[str, SiteClient],
        handover: Handover,
        heirs: Heirs | None,
        links: Node,
        mesh: Mesh,
        offloading: Offloading,
        order: PublicationOrder,
        outlets: SiteOutlets,
        router: EventRouter,
    ) -> None:
        self._capture, self._copies, self._core, self._door, self._far = capture, copies, core, door, far
        self._handover, self._heirs, self._links, self._mesh = handover, heirs, links, mesh
        self._offloading, self._order, self._outlets, self._router = offloading, order, outlets, router

    def counters(self) -> dict[str, Any]:
        """Returns the figures for `metrics.METRICS`."""
        captured: dict[str, Any] = self._capture.counters() if self._capture is not None else {}
        others = captured | self._door.counters() | self._offloading.counters() | self._outlets.counters()
        return others | self._of_topics() | self._of_the_window() | self._of_links() | self._of_what_waits()

    def _of_topics(self) -> dict[str, Any]:
        core = self._core
        return {
            "broker_events_matched_total": core.matched,
            "broker_events_unmatched_total": core.unmatched,
            "broker_deliveries_total": core.fanout.deliveries,
            "broker_events_forwarded_total": self._mesh.client.forwarder.forwarded,
            "broker_events_duplicate_total": core.duplicates,
            "broker_events_misrouted_total": self._router.misrouted,
            "broker_site_copies_total": core.site_copies,
            "broker_site_events_received_total": core.site_events,
            "broker_site_events_stale_total": core.stale,
            "broker_interest_rows": len(core.interest),
            "broker_topics_lingering": core.recorded.left_behind,
            "broker_view_number": self._mesh.view.number,
        }

    def _of_the_window(self) -> dict[str, Any]:
        window, laggards = self._core.window, self._core.laggards
        return {
            "broker_links_behind": len(laggards) if laggards is not None else 0,
            "broker_window_served_total": laggards.served if laggards is not None else 0,
            "broker_window_passed_total": laggards.lost if laggards is not None else 0,
            "broker_window_events": len(window) if window is not None else 0,
            "broker_window_bytes": window.used_bytes if window is not None else 0,
            "broker_window_copies_bytes": self._copies.used_bytes,
            "broker_window_uncopied": self._heirs.uncopied if self._heirs is not None else 0,
        }

    def _of_links(self) -> dict[str, Any]:
        links = self._links
        return links.loops.counters() | {
            "broker_links": len(links.links),
            "broker_sites_live": sum(client.alive for client in self._far.values()) + 1,
            "broker_link_queue_bytes": links.queued_bytes,
            "broker_links_slow_total": links.slow,
            "broker_link_drops_total": links.drops,
            "broker_protocol_errors_total": links.refused,
        }

    def _of_what_waits(self) -> dict[str, Any]:
        forwarder, heirs = self._mesh.client.forwarder, self._heirs
        return {
            "broker_forward_bytes": forwarder.waiting_bytes + (heirs.waiting_bytes if heirs is not None else 0),
            "broker_forward_refused_total": forwarder.refused + (heirs.refused if heirs is not None else 0),
            "broker_handover_bytes": self._handover.held_bytes + self._order.waiting_bytes,
            "broker_handover_overflow_total": self._handover.overflowed + self._order.overflowed,
        }
