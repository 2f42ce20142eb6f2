"""infra.runtime.config: files become options, and every mistake is answered with the file, the key, and what would be right."""

from pathlib import Path
from typing import Annotated

import msgspec
import pytest

from infra.kernel.errors import ConfigError
from infra.runtime.config import Address, load


class Peer(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    weight: int = 1

    def check(self) -> None:
        if self.weight > 9:
            raise ConfigError(f"the weight of {self.name} is over 9")


class Broker(msgspec.Struct, frozen=True, kw_only=True):
    listen: Address = Address("127.0.0.1", 7811)
    state: Path | None = None
    heartbeat_s: Annotated[float, msgspec.Meta(gt=0)] = 0.5
    timeout_s: float = 2.0
    sites: dict[str, Peer] = {}

    def check(self) -> None:
        if self.timeout_s < 2 * self.heartbeat_s:
            raise ConfigError("broker.timeout_s must be at least two heartbeats")


class Options(msgspec.Struct, frozen=True, kw_only=True):
    broker: Broker = Broker()
    peers: tuple[Peer, ...] = ()
    nearest: Peer | None = None


def write(folder: Path, text: str) -> Path:
    path = folder / "sto-b1.toml"
    path.write_text(text, encoding="utf-8")
    return path


def complaint(folder: Path, text: str, **overrides: str) -> str:
    """Returns what the operator reads, without the file name, which is always there."""
    path = write(folder, text)
    with pytest.raises(ConfigError) as refusal:
        load(path, Options, {key.replace("__", "."): literal for key, literal in overrides.items()})
    file, _, rest = str(refusal.value).partition(".toml: ")
    assert file == str(path.with_suffix(""))
    return rest


def test_a_file_becomes_options_and_what_it_leaves_out_keeps_its_default(tmp_path: Path) -> None:
    text = """
        broker.listen = "0.0.0.0:0"
        broker.state = "var/segue"
        broker.sites.lon = { name = "london" }
        peers = [{ name = "a" }, { name = "b", weight = 2 }]
    """
    options = load(write(tmp_path, text), Options)
    assert options.broker.listen == Address("0.0.0.0", 0)
    assert options.broker.state == Path("var/segue")
    assert options.broker.sites == {"lon": Peer(name="london")}
    assert options.broker.heartbeat_s == 0.5
    assert options.peers == (Peer(name="a"), Peer(name="b", weight=2))


def test_without_a_file_there_are_the_defaults_and_the_overrides() -> None:
    options = load(None, Options, {"broker.heartbeat_s": "0.2", "nearest.name": '"b2"'})
    assert options == Options(broker=Broker(heartbeat_s=0.2), nearest=Peer(name="b2"))
    with pytest.raises(ConfigError, match=r"^command line: unknown key broker\.name; known here: heartbeat_s, "):
        load(None, Options, {"broker.name": "1"})


def test_an_override_wins_over_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, "[broker]\nheartbeat_s = 0.3\ntimeout_s = 5")
    assert load(path, Options, {"broker.heartbeat_s": "1"}).broker == Broker(heartbeat_s=1.0, timeout_s=5.0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("borker.heartbeat_s = 1", "unknown key borker; did you mean broker?"),
        ("broker.hearbeat_s = 1", "unknown key broker.hearbeat_s; did you mean heartbeat_s?"),
        ("[broker.sites.lon]\nname = 'x'\nwieght = 1", "unknown key broker.sites.lon.wieght; did you mean weight?"),
        ("[[peers]]\nname = 'a'\n[[peers]]\nnmae = 'b'", "unknown key peers[1].nmae; did you mean name?"),
        ("nearest = { port = 1, name = 'a' }", "unknown key nearest.port; known here: name, weight"),
    ],
)
def test_an_unknown_key_at_any_depth_is_answered_with_the_nearest_known_one(tmp_path: Path, text: str, expected: str) -> None:
    assert complaint(tmp_path, text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("broker.heartbeat_s = 'fast'", "broker.heartbeat_s = 'fast': Expected float, got str"),
        ("broker.heartbeat_s = 0", "broker.heartbeat_s = 0: Expected float > 0.0"),
        ("broker = 7", "broker = 7: Expected table, got int"),
        ("peers = [{ name = 'a' }, { name = 2 }]", "peers[1].name = 2: Expected str, got int"),
        ("broker.sites.lon.name = 3", "broker.sites[...].name = ...: Expected str, got int"),
        ("peers = [{ weight = 2 }]", "missing key peers[0].name"),
        ("broker.state = 3", "broker.state = 3: Expected str, got int"),
        ("broker.listen = 7811", "broker.listen = 7811: Expected str, got int"),
    ],
)
def test_a_wrong_value_is_answered_with_the_key_the_value_and_what_is_expected(tmp_path: Path, text: str, expected: str) -> None:
    assert complaint(tmp_path, text) == expected


def test_a_bad_address_says_how_one_is_written(tmp_path: Path) -> None:
    assert complaint(tmp_path, "broker.listen = 'here'").startswith("broker.listen = 'here': an address is host:port, for example")


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    assert complaint(tmp_path, "[broker]\nheartbeat_s =\n").startswith("is not TOML: Invalid value (at line 2")
    missing = tmp_path / "none.toml"
    with pytest.raises(ConfigError, match=r"none\.toml: cannot be read: No such file"):
        load(missing, Options)
    missing.write_bytes(b"a = '\xff'")
    with pytest.raises(ConfigError, match=r"none\.toml: is not UTF-8 at byte 5"):
        load(missing, Options)


def test_an_override_that_cannot_be_used_says_how_to_write_it(tmp_path: Path) -> None:
    assert complaint(tmp_path, "", nearest__name="b2").endswith("a text needs quotes: --set 'nearest.name=\"b2\"'")
    assert complaint(tmp_path, "broker.timeout_s = 3", broker__timeout_s__x="1") == "--set broker.timeout_s.x: timeout_s is not a table"


@pytest.mark.parametrize("text", ["peers = [{ name = 'a', weight = 10 }]", "broker.sites.x = { name = 'a', weight = 10 }"])
def test_fields_that_do_not_fit_together_are_refused_wherever_they_stand(tmp_path: Path, text: str) -> None:
    assert complaint(tmp_path, "broker.timeout_s = 0.9") == "broker.timeout_s must be at least two heartbeats"
    assert complaint(tmp_path, text) == "the weight of a is over 9"
