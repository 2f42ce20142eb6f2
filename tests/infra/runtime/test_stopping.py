"""How a process ends when it is asked to: with what was begun undone, and by the very signal."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from infra.runtime.stopping import Stopped, heeding, held

BEGIN = "import os, signal, sys\nfrom infra.runtime.stopping import Stopped, ended_by_signals, held, unwind\nme = os.getpid()\n"


def run(program: str) -> tuple[int, str]:
    """Runs a program to its end: its exit code (less than 0: it died of a signal), and what it printed."""
    done = subprocess.run([sys.executable, "-c", BEGIN + program], capture_output=True, text=True, check=False, timeout=60)
    assert done.stderr == ""
    return done.returncode, done.stdout.strip()


def test_a_command_that_is_not_asked_to_end_ends_well() -> None:
    assert run("with ended_by_signals():\n    print('done')") == (0, "done")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_command_with_nothing_to_undo_dies_at_once(number: signal.Signals) -> None:
    assert run(f"with ended_by_signals():\n    os.kill(me, {number:d})\n    print('not reached')") == (-number, "")


def test_what_was_begun_is_undone_and_then_the_command_dies_of_the_signal() -> None:
    program = """
with ended_by_signals():
    unwind()
    try:
        os.kill(me, signal.SIGTERM)
    finally:
        print("undone", flush=True)
"""
    assert run(program) == (-signal.SIGTERM, "undone")


def test_a_second_signal_does_not_wait_until_all_is_undone() -> None:
    program = """
with ended_by_signals():
    unwind()
    try:
        os.kill(me, signal.SIGTERM)
    finally:
        os.kill(me, signal.SIGINT)
        print("not reached", flush=True)
"""
    assert run(program) == (-signal.SIGINT, "")


def test_the_number_of_the_signal_is_in_what_is_raised() -> None:
    program = """
unwind()
try:
    os.kill(me, signal.SIGTERM)
except Stopped as stop:
    print(stop.number, stop.code)
"""
    assert run(program) == (0, "15 143")


def test_a_finalizer_that_is_interrupted_does_not_keep_the_process() -> None:
    program = """
class Last:
    def __del__(self):
        os.kill(me, signal.SIGTERM)

unwind()
last = Last()
del last
print("not reached", flush=True)
"""
    assert run(program) == (-signal.SIGTERM, "")


def test_another_trouble_of_a_finalizer_is_reported_as_ever() -> None:
    program = """
class Last:
    def __del__(self):
        raise ValueError("trouble")

sys.unraisablehook = lambda trouble: print("reported:", trouble.exc_value)
unwind()
last = Last()
del last
"""
    assert run(program) == (0, "reported: trouble")


def test_a_hang_up_that_is_ignored_stays_ignored() -> None:
    program = """
signal.signal(signal.SIGHUP, signal.SIG_IGN)
with ended_by_signals():
    os.kill(me, signal.SIGHUP)
    print("survived")
"""
    assert run(program) == (0, "survived")


def test_a_signal_is_told_while_the_block_runs_and_then_whoever_was_there_before() -> None:
    before: list[int] = []
    told: list[int] = []
    was = signal.signal(signal.SIGTERM, lambda number, _: before.append(number))
    try:
        with heeding(told.append, (signal.SIGTERM,)):
            os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, was)
    assert (told, before) == ([signal.SIGTERM], [signal.SIGTERM])


def test_a_signal_is_held_until_the_end_of_the_block() -> None:
    told: list[str] = []
    was = signal.signal(signal.SIGTERM, lambda *_: told.append("signal"))
    try:
        with held():
            os.kill(os.getpid(), signal.SIGTERM)
            told.append("end of the block")
    finally:
        signal.signal(signal.SIGTERM, was)
    assert told == ["end of the block", "signal"]


def test_another_thread_gets_no_signals_and_asks_for_none() -> None:
    entered: list[bool] = []

    def work() -> None:
        with heeding(print):
            entered.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert entered == [True]


def test_stopped_is_an_exit_as_shells_count_it() -> None:
    assert (Stopped(15).number, Stopped(15).code) == (15, 143)


@pytest.mark.parametrize("swallowed", ["pass", "raise ValueError('another error')"])
def test_a_signal_that_c_code_makes_something_else_of_ends_the_command_all_the_same(swallowed: str) -> None:
    """Matplotlib's drawing drops what a signal raises within a conversion, or reports a matrix that is not valid."""
    program = f"""
with ended_by_signals():
    unwind()
    try:
        os.kill(me, signal.SIGTERM)
    except Stopped:
        {swallowed}
"""
    assert run(program) == (-signal.SIGTERM, "")


def test_who_leaves_something_behind_hears_of_a_signal_that_was_lost() -> None:
    program = """
from infra.runtime.stopping import check_stopped
with ended_by_signals():
    unwind()
    check_stopped()
    try:
        os.kill(me, signal.SIGTERM)
    except Stopped:
        pass
    check_stopped()
    print("not reached")
"""
    assert run(program) == (-signal.SIGTERM, "")
