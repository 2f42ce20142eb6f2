"""The admin listener, as an OpenAPI document shows it."""

from typing import Final

from ..stats import ProcessStats, RoleStats, Stats
from .admin_answers import Health, Readiness
from .openapi import Content, NamedRoute, Operation, ServerUrl, Success

ROUTES: Final = (
    NamedRoute("GET", "/healthz", "nobody"),
    NamedRoute("GET", "/readyz", "nobody"),
    NamedRoute("GET", "/metrics", "service"),
    NamedRoute("GET", "/v1/stats", "service"),
)

_SERVER: Final = ServerUrl("http://127.0.0.1:7790", "The admin listener of `segue up`. From this machine it takes no token to read.")
_BROKER: Final = {"role": "broker", "node": "b1", "site": "sto"}
_ACCESS_POINT: Final = {"role": "accesspoint", "node": "ap1", "site": "sto"}
_READY: Final = {"ready": True, "roles": [_BROKER | {"reason": None}]}
_NOT_READY: Final = {"ready": False, "roles": [_ACCESS_POINT | {"reason": "no link to an aggregator"}]}
_PROCESS: Final = {
    "id": "host/4711/1795231479.27",
    "cpu_s": 0.78,
    "uptime_s": 1.79,
    "loop_lag_s": 0.001,
    "rss_bytes": 61468672,
    "open_fds": 20,
}
_COUNTERS: Final = {"broker_events_accepted_total": 1, "broker_events_rejected_total": {"bad-content-type": 1}}

OPERATIONS: Final = {
    ("GET", "/healthz"): Operation(
        id="health",
        summary="Whether the process runs. A loop that is stuck does not answer.",
        replies={200: Success("It runs.", Content.of(Health, {"status": "ok"}))},
        server=_SERVER,
    ),
    ("GET", "/readyz"): Operation(
        id="ready",
        summary="Whether every role of the process can do its work.",
        replies={
            200: Success("All roles are ready.", Content.of(Readiness, _READY)),
            503: Success("Some role is not ready; its reason says why.", Content.of(Readiness, _NOT_READY)),
        },
        server=_SERVER,
    ),
    ("GET", "/metrics"): Operation(
        id="metrics",
        summary="The numbers of all roles of the process, for Prometheus.",
        refusals=(401, 403, 429),
        replies={200: Success("Prometheus text format. metrics.md lists the names.", Content(str, media="text/plain"))},
        server=_SERVER,
    ),
    ("GET", "/v1/stats"): Operation(
        id="stats",
        summary="The same numbers as one JSON document, for people, scripts and `segue top`.",
        refusals=(401, 403, 429),
        replies={
            200: Success(
                "The numbers of this moment.",
                Content.of(Stats, {"process": _PROCESS, "roles": [_BROKER | {"not_ready": None, "counters": _COUNTERS}]}),
            )
        },
        server=_SERVER,
    ),
}
REFINED: Final = {
    ProcessStats: {
        "id": {"description": "Host, process id and start time: new after each start."},
        "loop_lag_s": {"description": "The longest delay of the event loop in the last 15 seconds."},
    },
    RoleStats: {"counters": {"description": "Name of a metric to its value, or to one value for each value of its label."}},
}
