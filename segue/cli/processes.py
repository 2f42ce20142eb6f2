"""Several processes of this program that are one command."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence

from infra.runtime.stopping import heeding, held


def run_side_by_side(commands: Sequence[Sequence[str]]) -> int:
    """Runs Python with the arguments of each of `commands`; when one ends, or a signal comes, all are stopped.

    A SIGHUP is passed on: each decides whether it means to stop or to read its certificate again.

    Returns the highest exit code.
    """
    children: list[subprocess.Popen[bytes]] = []

    def stop(number: int = signal.SIGTERM) -> None:
        for child in children:
            child.send_signal(signal.SIGHUP if number == signal.SIGHUP else signal.SIGTERM)

    with heeding(stop):
        with held():  # a child that is just being started is not in the list yet, and would not be stopped
            # A group of its own: Ctrl-C reaches this process alone, which asks each child once, so that it drains in peace.
            children += [subprocess.Popen([sys.executable, *command], process_group=0) for command in commands]  # noqa: S603 - our own
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
        stop()
        return max(_exit_code(child.wait()) for child in children)


def _exit_code(ended: int) -> int:
    """Returns the exit code that a child stands for.

    A child that ended by a signal of `stop` was asked to end before it could drain: that is a 0.
    """
    if ended in (-signal.SIGTERM, -signal.SIGHUP):
        return 0
    return ended if ended >= 0 else 128 - ended
