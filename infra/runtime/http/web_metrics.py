"""The metrics of an HTTP server on aiohttp."""

from typing import Any

from ..metrics import Metric
from .request_rates import RequestRates
from .web_door import WebDoor


def web_metrics(name: str) -> tuple[Metric, ...]:
    """Returns the rows of `web_figures`, for the role or the part of a process that is called `name`."""
    return (
        Metric(f"{name}_http_requests_total", "counter", "HTTP requests, whatever the answer.", "requests"),
        Metric(
            f"{name}_http_rate_limited_total",
            "counter",
            "HTTP requests of users, services and addresses that asked too often, or showed too many bad tokens.",
            "requests",
        ),
        Metric(f"{name}_http_refused_total", "counter", "HTTP requests answered with an error, by code.", "requests", "code"),
        Metric(f"{name}_http_connections", "gauge", "Open HTTP connections.", "connections"),
        Metric(
            f"{name}_http_connections_refused_total",
            "counter",
            "HTTP connections that were turned away: too many were open (door, address), or too many came a second (rate, address_rate).",
            "connections",
            "limit",
        ),
        Metric(
            f"{name}_http_given_up_total",
            "counter",
            "HTTP connections that were ended because the client kept the process waiting, by what was awaited.",
            "connections",
            "awaited",
        ),
    )


def web_figures(name: str, requests: int, rates: RequestRates, door: WebDoor) -> dict[str, Any]:
    """Returns the figures of `web_metrics(name)`, for a server that has been asked so many `requests`."""
    return {
        f"{name}_http_requests_total": requests,
        f"{name}_http_rate_limited_total": rates.refused + door.places.unread_tokens,
        f"{name}_http_refused_total": dict(door.refusals),
        f"{name}_http_connections": door.places.taken,
        f"{name}_http_connections_refused_total": dict(door.places.refused),
        f"{name}_http_given_up_total": dict(door.given_up),
    }
