"""Every command of `segue`, with arguments under which it does something, in a folder with all that it needs."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, Final, NamedTuple

import click
import msgspec

from analytics.generator.job import generate
from analytics.generator.profile import profile
from analytics.offloading.plan import PlanOptions
from infra.runtime.certificates import make_authority
from infra.runtime.tokens import ensure_secret
from segue.cli.command_line import cli
from segue.cluster.fleet import address_book, write_config
from segue.cluster.ports import Ports
from segue.cluster.roles import ROLES, role_of
from segue.cluster.shape import STORING, Shape
from tests.support.characterizations import make

CommandPath = tuple[str, ...]


class Example(NamedTuple):
    """A call of a command.

    - `arguments`: its arguments; `{out}` is a place for what it writes, `{number}` is of this call alone, and so is `{new_playlist}`.
    - `work`: words that it prints when it is at work. Without them it waits, or works without a word.
    - `stays`: it goes on until it is ended.
    - `drains`: it is a server, and ends well when it is asked to.
    - `code`: the exit code with which it ends by itself.
    """

    arguments: str
    work: str = ""
    stays: bool = False
    drains: bool = False
    code: int = 0


EXAMPLES: Final[dict[CommandPath, Example]] = {
    **{(role,): Example(f"--config {{configs}}/{role}.toml --json --shared-ports", '"role"', stays=True, drains=True) for role in ROLES},
    ("admin", "announce"): Example("hello --url {services} --state {state}"),
    ("admin", "ban"): Example("carol --for 1s --url {services} --state {state}"),
    ("admin", "bans"): Example("--url {services} --state {state}"),
    ("admin", "disconnect"): Example("carol --url {services} --state {state}"),
    ("admin", "revocations"): Example("--url {services} --state {state}"),
    ("admin", "revoke"): Example("--jti t-1 --url {services} --state {state}"),
    ("admin", "sessions"): Example("carol --url {services} --state {state}"),
    ("admin", "unban"): Example("carol --url {services} --state {state}"),
    ("admin", "unsubscribe"): Example("carol hm://presence/user/bob/ --url {services} --state {state}"),
    ("analyze", "characterize"): Example("{trace} --out {out}", " spark"),
    ("act",): Example("play --user {user} artist=Björk --url {clients} --state {state}"),
    ("analyze", "compare"): Example("{a} {b} --out {out}"),
    ("analyze", "generate"): Example("{out} --scale 1/1000 --publications 1000 --sessions 0 --processes 2"),
    ("analyze", "import"): Example("edges {edges} {out}"),
    ("analyze", "validate"): Example("{trace}"),
    ("artists", "follow"): Example("bjork --user {user} --url {artist} --state {state}"),
    ("artists", "list"): Example("--user {user} --url {artist} --state {state}"),
    ("artists", "unfollow"): Example("bjork --user {user} --url {artist} --state {state}"),
    ("block",): Example("eve --user {user} --url {social} --state {state}"),
    ("cassandra", "start"): Example("--dir {out} --port 0", code=2),
    ("cassandra", "status"): Example("--dir {out}", code=3),
    ("cassandra", "stop"): Example("--dir {out}"),
    ("certs", "door"): Example("host{number} --dir {certs}"),
    ("certs", "init"): Example("--dir {out}{number}"),
    ("certs", "node"): Example("--role broker --site sto --node b{number} --dir {certs}"),
    ("certs", "secret"): Example("{out}{number}"),
    ("certs", "show"): Example("{certs}/authority.crt"),
    ("demo",): Example("--users 60 --capture {out} --json {out}.json", "cluster "),
    ("devices", "list"): Example("--user {user} --url {notification} --state {state}"),
    ("devices", "remove"): Example("https://push.example.org/a --user {user} --url {notification} --state {state}"),
    ("drill",): Example("--row repeated --json {out}.json", "about "),
    ("webhooks", "add"): Example("https://app.example.org/a --user {user} --url {notification} --state {state}"),
    ("webhooks", "list"): Example("--user {user} --url {notification} --state {state}"),
    ("webhooks", "remove"): Example("4f1c09ab77e2 --user {user} --url {notification} --state {state}"),
    ("webhooks", "rotate"): Example("4f1c09ab77e2 --user {user} --url {notification} --state {state}", code=1),
    ("webhooks", "test"): Example("4f1c09ab77e2 --user {user} --url {notification} --state {state}", code=1),
    ("friends", "add"): Example("dan --user {user} --url {social} --state {state}"),
    ("friends", "followers"): Example("--user {user} --url {social} --state {state}"),
    ("friends", "list"): Example("--user {user} --url {social} --state {state}"),
    ("friends", "remove"): Example("dan --user {user} --url {social} --state {state}"),
    ("history",): Example("hm://notifications/feed/bjork%new-album/ --user {user} --url {clients} --state {state}"),
    ("last",): Example("hm://presence/user/bob/ --user {user} --url {clients} --state {state}"),
    ("listen",): Example("--notifications --user {user} --url {clients} --state {state}", "listening", stays=True),
    ("new-epoch",): Example("--state {state}"),
    ("new-secret",): Example("--state {state}"),
    ("notify",): Example("hm://notifications/feed/bjork%new-album/ --kind album --file - --url {notification} --state {state}", stays=True),
    ("offload-demo",): Example("--users 30 --events 200 --sites 1 --json {out}", "engine "),
    ("overlay", "compare"): Example("--system scribe --nodes 1000 --settle 10 --processes 1 --out {out} --json {out}.json", "scribe: "),
    ("inbox", "archive"): Example("1 --user {user} --url {clients} --state {state}"),
    ("inbox", "delete"): Example("2 --user {user} --url {clients} --state {state}"),
    ("inbox", "list"): Example("--user {user} --url {clients} --state {state}"),
    ("inbox", "read"): Example("1 --user {user} --url {clients} --state {state}"),
    ("inbox", "unarchive"): Example("1 --user {user} --url {clients} --state {state}"),
    ("inbox", "unread"): Example("1 --user {user} --url {clients} --state {state}"),
    ("links", "add"): Example("address-book dan@example.org --user {user} --url {social} --state {state}"),
    ("links", "list"): Example("--user {user} --url {social} --state {state}"),
    ("links", "remove"): Example("address-book --user {user} --url {social} --state {state}"),
    ("overlay", "report"): Example("--quick --study convergence --out {out} --json {out}.json", "Convergence of rings: friends"),
    ("overlay", "simulate"): Example("--nodes 3000 --out {out} --json {out}.json", "reading the workload"),
    ("plan", "provision"): Example("{trace} --out {out} --json {out}.json", "reading the trace"),
    ("plan", "satisfaction"): Example("{trace} --out {out} --json {out}.json", "reading the trace"),
    ("playlists", "add"): Example("mix t1 --user {user} --url {playlist} --state {state}"),
    ("playlists", "collaborative"): Example("mix editors --user {user} --url {playlist} --state {state}"),
    ("playlists", "create"): Example("Sumar t1 t2 --user {user} --url {playlist} --state {state}"),
    ("playlists", "delete"): Example("{new_playlist} --user {user} --url {playlist} --state {state}"),
    ("playlists", "follow"): Example("mix --user {user} --url {playlist} --state {state}"),
    ("playlists", "followers"): Example("mix --user {user} --url {playlist} --state {state}"),
    ("playlists", "list"): Example("--user {user} --url {playlist} --state {state}"),
    ("playlists", "remove"): Example("mix 0 --user {user} --url {playlist} --state {state}"),
    ("playlists", "rename"): Example("mix Vetur --user {user} --url {playlist} --state {state}"),
    ("playlists", "reorder"): Example("mix 0 2 --user {user} --url {playlist} --state {state}"),
    ("playlists", "show"): Example("mix --user {user} --url {playlist} --state {state}"),
    ("playlists", "unfollow"): Example("mix --user {user} --url {playlist} --state {state}"),
    ("prefs", "reset"): Example("--user {user} --url {notification} --state {state}"),
    ("prefs", "set"): Example("--tz Europe/Stockholm --user {user} --url {notification} --state {state}"),
    ("prefs", "show"): Example("--user {user} --url {notification} --state {state}"),
    ("privacy", "listening"): Example("followers --user {user} --url {social} --state {state}"),
    ("privacy", "playlist"): Example("summer followers --user {user} --url {social} --state {state}"),
    ("privacy", "session"): Example("phone --hours 1 --user {user} --url {social} --state {state}"),
    ("privacy", "show"): Example("--user {user} --url {social} --state {state}"),
    ("publish",): Example("--file - --url {services} --state {state}", stays=True),
    ("replay",): Example("{trace} --users 20 --speed 600 --url {clients} --broker {services} --state {state}", "Ctrl-C ends"),
    ("ring", "abort"): Example("--url {services} --state {state}"),
    ("ring", "plan"): Example("--add b1 --output {out}.json --url {services} --state {state}"),
    ("ring", "run"): Example("{plan} --url {services} --state {state}"),
    ("ring", "status"): Example("--url {services} --state {state}"),
    ("rules", "check"): Example(""),
    ("rules", "explain"): Example("--topic user"),
    ("token",): Example("--user alice --state {state}"),
    ("top",): Example("{admin} --once --interval 2", stays=True),
    ("unblock",): Example("eve --user {user} --url {social} --state {state}"),
    ("up",): Example("--json --port-base 0 --state {out}", '"clients"', stays=True, drains=True),
    ("wall",): Example("--user {user} --url {social} --state {state}"),
    ("why",): Example("post-1 --user {user} --url {notification} --state {state}"),
}


def every_command(group: click.Group = cli, path: CommandPath = ()) -> Iterator[CommandPath]:
    """Yields the path of each command of `group`, which is at `path`, and of those of its groups."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield from every_command(command, (*path, name)) if isinstance(command, click.Group) else [(*path, name)]


class Ground:
    """The ground of commands: a site that runs, a trace, two characterizations, edges, an authority, a configuration for each role."""

    def __init__(self, folder: Path, addresses: dict[str, str]) -> None:
        self._places = addresses | {name: str(folder / name) for name in ("trace", "a", "b", "edges", "plan", "configs", "state", "certs")}
        self._numbers = count()

    def command(self, path: CommandPath, out: Path, user: str = "alice") -> list[str]:
        """Returns the arguments of Python that run the command at `path`, which writes to `out`.

        `user`, alice or bob, has two notifications until a command has shown them.
        """
        number, arguments = next(self._numbers), EXAMPLES[path].arguments
        new = f"p{number}"
        if "{new_playlist}" in arguments:
            _make_playlist(self._places["playlist"], Path(self._places["state"]), user, new)
        arguments = arguments.format(out=out / "out", user=user, number=number, new_playlist=new, **self._places)
        return ["-m", "segue", *path, *arguments.split()]


@contextmanager
def ground(folder: Path) -> Iterator[Ground]:
    """Lays the ground in `folder`. The site runs while the block runs."""
    generate(folder / "trace", profile("spotify", 0.0005, 1), publications=5_000, sessions=0, processes=1, progress=lambda *_: None)
    make(folder / "a", seed=1)
    make(folder / "b", seed=2)
    (folder / "edges").write_text("1 2\n2 3\n")
    (folder / "plan").write_text('{"form": 1, "rounds": []}')
    make_authority("Segue", time.time()).write(folder / "certs" / "authority.crt", folder / "certs" / "authority.key")
    command = [sys.executable, "-m", "segue", "up", "--policy", "open", "--json", "--port-base", "0", "--state", str(folder / "state")]
    with Ports() as ports, subprocess.Popen(command, stdout=subprocess.PIPE) as site:
        try:
            _write_configs(folder, ports)
            assert site.stdout is not None
            found = json.loads(site.stdout.readline())
            addresses = {name: each if isinstance(each, str) else each[0].partition("/v1")[0] for name, each in found.items()}
            _tell_both(addresses["notification"], folder / "state")
            for user in ("alice", "bob"):
                _make_playlist(addresses["playlist"], folder / "state", user, "mix")
            yield Ground(folder, addresses)
        finally:
            site.terminate()


def _tell_both(url: str, state: Path) -> None:
    for notice in ("post-1", "post-2"):
        album = ["hm://notifications/feed/bjork%new-album/", "--kind", "album", "--id", notice]
        arguments = [*album, "--to", "alice,bob", "--url", url, "--state", str(state)]
        subprocess.run([sys.executable, "-m", "segue", "notify", *arguments], check=True, stdout=subprocess.DEVNULL)


def _make_playlist(url: str, state: Path, user: str, name: str) -> None:
    tracks = [f"t{number}" for number in range(20)]
    arguments = ["create", name, *tracks, "--id", name, "--user", user, "--url", url, "--state", str(state)]
    subprocess.run([sys.executable, "-m", "segue", "playlists", *arguments], check=True, stdout=subprocess.DEVNULL)


def _write_configs(folder: Path, ports: Ports) -> None:
    """Writes a configuration for one process of each role. They look for each other in vain."""
    (folder / "configs").mkdir()
    catalogue = folder / "catalogue.jsonl"
    catalogue.touch()
    shape = Shape(notification=1, services=tuple(STORING), decision=PlanOptions(), state=folder / "stores", catalogue=str(catalogue))
    options: list[Any] = list(shape.options())
    book = address_book(options, ports)
    for each in options:
        if role_of(each) in STORING:
            each = msgspec.structs.replace(each, notification=["http://127.0.0.1:1"])
        write_config(each, book, ensure_secret(folder), folder / "configs").rename(folder / "configs" / f"{role_of(each)}.toml")
