"""The loop of a process: what it returns, what it raises, and how it ends by a signal."""

import asyncio
import os
import pty
import signal
import subprocess
import sys

import pytest

from infra.runtime.event_loop import ended_by_ctrl_c, factory, run, stopped_by_signals
from infra.runtime.stopping import Stopped


def kill(number: signal.Signals) -> None:
    """Sends this process a signal."""
    os.kill(os.getpid(), number)


def test_a_coroutine_runs_to_its_end_on_a_loop_of_the_factory() -> None:
    async def main() -> str:
        return type(asyncio.get_running_loop()).__module__

    assert run(main()) == factory().__module__


def test_what_a_coroutine_raises_is_raised() -> None:
    async def main() -> None:
        raise LookupError("not there")

    with pytest.raises(LookupError, match="not there"):
        run(main())


def test_an_exit_leaves_the_loop_as_an_exit() -> None:
    async def main() -> None:
        raise SystemExit(3)

    with pytest.raises(SystemExit) as exit:
        run(main())
    assert exit.value.code == 3


def test_a_cancellation_of_its_own_making_is_raised() -> None:
    async def main() -> None:
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        run(main())


def test_the_first_signal_cancels_and_is_raised_when_everything_is_undone() -> None:
    undone: list[str] = []

    async def main() -> None:
        try:
            kill(signal.SIGTERM)
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            undone.append("all")

    with pytest.raises(Stopped) as stop:
        run(main())
    assert (stop.value.number, undone) == (signal.SIGTERM, ["all"])


def test_an_exit_after_a_signal_does_not_hide_the_signal() -> None:
    async def main() -> None:
        try:
            kill(signal.SIGTERM)
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise SystemExit(3) from None

    with pytest.raises(Stopped):
        run(main())


def test_a_server_hears_a_signal_as_an_event_and_drains() -> None:
    async def main() -> str:
        with stopped_by_signals() as stopped:
            kill(signal.SIGTERM)
            await stopped.wait()
        return "drained"

    assert run(main()) == "drained"


def test_ctrl_c_ends_one_task_and_the_others_go_on() -> None:
    async def main() -> bool:
        task = asyncio.get_running_loop().create_task(asyncio.Event().wait())
        with ended_by_ctrl_c(task):
            kill(signal.SIGINT)
            await asyncio.wait([task])
        return task.cancelled()

    assert run(main())


SERVING = """
import fcntl, sys, termios
from infra.runtime.event_loop import run, stopped_by_signals
if sys.argv[1] == "terminal":
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)

async def serve():
    with stopped_by_signals(lambda: print("reloaded", flush=True)) as stopped:
        print("ready", flush=True)
        await stopped.wait()
    print("stopped", flush=True)

run(serve())
"""


@pytest.mark.parametrize("place", ["terminal", "daemon"])
def test_a_hang_up_reloads_and_the_end_of_our_terminal_stops(place: str) -> None:
    """DPS-23: SIGHUP renews certificates; who closes the terminal still ends what runs there."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", SERVING, place]
    with subprocess.Popen(command, stdin=theirs, stdout=subprocess.PIPE, start_new_session=True, text=True) as child:
        os.close(theirs)
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        child.send_signal(signal.SIGHUP)
        assert child.stdout.readline() == "reloaded\n"
        os.close(ours)
        if place == "daemon":
            child.send_signal(signal.SIGHUP)
            assert child.stdout.readline() == "reloaded\n"
            child.send_signal(signal.SIGTERM)
        assert child.stdout.readline() == "stopped\n"
