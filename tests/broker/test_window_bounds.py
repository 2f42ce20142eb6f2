"""Bounds of windows that cannot be meant are refused with both keys and what to write; a file that has one table has them all."""

from pathlib import Path

import msgspec
import pytest

from accesspoint.point import write_point
from broker.options import BrokerOptions
from broker.window_bounds import DEFAULT_WINDOWS, MOST_COPYING, WindowBounds, check_windows, copied
from infra.kernel.errors import ConfigError
from infra.kernel.topics import Kind
from infra.runtime.config import load

MIB = 1 << 20


def test_what_is_not_said_is_the_default() -> None:
    """DPS-2: playlists keep all and users the latest, for two minutes; the others have no window."""
    options = BrokerOptions(site="sto", slot="b1", sites={"sto": {"b1": "sto/b1"}})
    options.check()
    assert options.window == DEFAULT_WINDOWS == {Kind.PLAYLIST: WindowBounds(), Kind.USER: WindowBounds(keep="latest")}
    assert msgspec.structs.astuple(options.window[Kind.PLAYLIST]) == ("all", 100, 64 << 10, 120.0, 0)
    assert options.window_bytes == 64 << 20


@pytest.mark.parametrize(
    ("named", "bounds", "window_bytes"),
    [
        ("broker.window.user.bytes is 0", WindowBounds(bytes=0), MIB),
        ("broker.window.user.events is 0", WindowBounds(events=0), MIB),
        ("broker.window.user.seconds is -1", WindowBounds(seconds=-1.0), MIB),
        ("broker.window.user.seconds is inf", WindowBounds(seconds=float("inf")), MIB),
        ("broker.window.user.bytes is 1000 and .* never be kept", WindowBounds(bytes=1000), MIB),
        ("broker.window_bytes is 1048576 .* write broker.window_bytes = 2097152", WindowBounds(bytes=2 * MIB), MIB),
    ],
)
def test_bounds_that_cannot_be_meant_are_named(named: str, bounds: WindowBounds, window_bytes: int) -> None:
    with pytest.raises(ConfigError, match=named):
        check_windows("broker", {Kind.USER: bounds}, window_bytes, 16 << 10, 3)


def test_without_windows_nothing_has_to_fit() -> None:
    check_windows("broker", {}, 1, MIB, 3)


def test_with_copies_a_site_has_as_many_brokers_as_a_point_has_room_for() -> None:
    """DPS-18: a client's point names every stream of copies, and has 1 KiB."""
    windows = {Kind.USER: WindowBounds(copies=1), Kind.PLAYLIST: WindowBounds()}
    assert copied(windows) == {Kind.USER}
    check_windows("broker", windows, MIB, 16 << 10, MOST_COPYING)
    with pytest.raises(ConfigError, match=r"broker.window.user.copies is 1, and the site has 8 brokers: with copies, name 7 or fewer"):
        check_windows("broker", windows, MIB, 16 << 10, MOST_COPYING + 1)
    epochs = [(1 << 11) - 1 << 50 | slot for slot in range(MOST_COPYING**2)]
    assert write_point("s" * 32, dict.fromkeys(epochs, 1 << 31)) is not None


class OneRole(msgspec.Struct, kw_only=True):
    """A file with a broker."""

    broker: BrokerOptions


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[broker.window.users]\n", "Invalid enum value 'users'"),
        ("[broker.window.user]\nkeep = 'some'\n", r"broker.window.*keep.*Invalid enum value 'some'"),
        ("[broker.window.user]\ncopies = 2\n", r"copies.*Invalid enum value 2"),
        ("[broker.window.user]\nevent = 3\n", "unknown key broker.window.user.event"),
        ("[broker.window.user]\nseconds = nan\n", "broker.window.user.seconds is nan"),
    ],
)
def test_a_file_with_a_wrong_window_is_refused(text: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "broker.toml"
    path.write_text("[broker]\nsite = 'sto'\nslot = 'b1'\n[broker.sites.sto]\nb1 = 'sto/b1'\n" + text)
    with pytest.raises(ConfigError, match=why):
        load(path, OneRole)


def test_a_file_with_one_table_has_them_all(tmp_path: Path) -> None:
    path = tmp_path / "broker.toml"
    path.write_text("[broker]\nsite = 'sto'\nslot = 'b1'\n[broker.sites.sto]\nb1 = 'sto/b1'\n[broker.window.playlist]\nseconds = 30\n")
    assert load(path, OneRole).broker.window == {Kind.PLAYLIST: WindowBounds(seconds=30.0)}
