"""Tests that run on asyncio's own loop and on uvloop: both must pass the same (design 5.6)."""

import asyncio
import inspect
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import uvloop

Scenario = Callable[..., Coroutine[Any, Any, None]]


def on_both_loops(scenario: Scenario) -> Callable[..., None]:
    """Returns a test that runs `scenario`, a test as a coroutine, once on each loop. Its fixtures are not async."""

    def test(new_loop: Callable[[], asyncio.AbstractEventLoop], **fixtures: Any) -> None:
        with asyncio.Runner(loop_factory=new_loop) as runner:
            runner.run(scenario(**fixtures))

    test.__name__, test.__doc__, test.__module__ = scenario.__name__, scenario.__doc__, scenario.__module__
    loop = inspect.Parameter("new_loop", inspect.Parameter.KEYWORD_ONLY)
    signature = inspect.signature(scenario)
    test.__signature__ = signature.replace(parameters=[*signature.parameters.values(), loop])  # type: ignore[attr-defined]
    both: Callable[..., None] = pytest.mark.parametrize(
        "new_loop", [asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"]
    )(test)
    return both
