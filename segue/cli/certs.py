"""`segue certs`: an authority of one's own, and certificates for nodes and doors.

It is for development and for installations that have no authority. Where there is one, any tool that makes certificates with the names
that `segue certs show` prints does as well.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import click

from infra.kernel.errors import ConfigError
from infra.kernel.link_handshake import node_name
from infra.kernel.printable import printable
from infra.runtime.certificates import (
    AUTHORITY_DAYS,
    CERTIFICATE_DAYS,
    KeyPair,
    certificate_facts,
    issue_certificate,
    make_authority,
)
from infra.runtime.given_file import read_given
from infra.runtime.secret_file import create_secret

from ..cluster.roles import ROLES

AUTHORITY: Final = "authority"
FOLDER: Final = Path("certs")
_DAY_S: Final = 86_400.0


def _folder(command: Callable[..., Any]) -> Callable[..., Any]:
    option = click.option(
        "--dir", "folder", type=click.Path(path_type=Path), default=FOLDER, show_default=True, help="Where the files are."
    )
    return option(command)


def _days(default: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option("--days", default=default, type=click.IntRange(min=1), show_default=True, help="How long it is valid.")


@click.group()
def certs() -> None:
    """Make certificates for links and doors, and show what they say.

    Files have mode 0600, and are never overwritten.
    """


@certs.command()
@_folder
@_days(AUTHORITY_DAYS)
@click.option("--name", default="Segue", show_default=True, help="What the authority is called.")
def init(folder: Path, days: int, name: str) -> None:
    """Make an authority: authority.crt, which every node gets, and authority.key, which no node needs."""
    _write(make_authority(name, time.time(), days=days), folder, AUTHORITY)


@certs.command()
@_folder
@_days(CERTIFICATE_DAYS)
@click.option("--role", required=True, type=click.Choice(list(ROLES)), help="The role that the process runs.")
@click.option("--site", required=True, help="Its site.")
@click.option("--node", "nodes", required=True, multiple=True, help="Its name, or slot. Repeat it for processes that share the files.")
@click.option("--host", "hosts", multiple=True, help="A host name or address, if the certificate is for its door as well.")
def node(folder: Path, days: int, role: str, site: str, nodes: tuple[str, ...], hosts: tuple[str, ...]) -> None:
    """Issue a certificate for the links of a node: SITE-NODE.crt and SITE-NODE.key."""
    names = [node_name(site, role, each) for each in nodes]
    _write(issue_certificate([*names, *hosts], _authority(folder), time.time(), days=days), folder, f"{site}-{nodes[0]}")


@certs.command()
@_folder
@_days(CERTIFICATE_DAYS)
@click.argument("hosts", nargs=-1, required=True)
def door(folder: Path, days: int, hosts: tuple[str, ...]) -> None:
    """Issue a certificate for doors that clients reach under HOSTS: FIRST-HOST.crt and FIRST-HOST.key."""
    stem = hosts[0].replace(":", "-").replace("*", "any")
    _write(issue_certificate(hosts, _authority(folder), time.time(), days=days), folder, stem)


@certs.command()
@click.argument("file", type=click.Path(path_type=Path))
def secret(file: Path) -> None:
    """Make a new secret for links in FILE, which [link_auth] names in secret_files."""
    if file.exists():
        raise ConfigError(f"{file} exists; it is never overwritten: choose another place, or remove it first")
    try:
        create_secret(file)
    except OSError as error:
        raise ConfigError(f"{file} cannot be written: {error.strerror}") from None
    click.echo(file)


@certs.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
def show(files: tuple[Path, ...]) -> None:
    """Show what certificates say, and until when."""
    for path in files:
        data = read_given(path)
        try:
            facts = certificate_facts(data)
        except ConfigError as error:
            raise ConfigError(f"{path}: {error}") from None
        days = (facts.valid_until.timestamp() - time.time()) / _DAY_S
        left = f"{days:.0f} days left" if days > 0 else "it has ended"
        names = printable(", ".join(facts.names)) or ("none; it is an authority" if facts.is_authority else "none")
        click.echo(
            f"{printable(str(path))}\n  subject  {printable(facts.subject)}\n  issuer   {printable(facts.issuer)}\n  names    {names}"
        )
        click.echo(f"  from     {facts.valid_from:%Y-%m-%d %H:%M} UTC\n  until    {facts.valid_until:%Y-%m-%d %H:%M} UTC, {left}")


def _authority(folder: Path) -> KeyPair:
    if not (folder / f"{AUTHORITY}.key").exists():
        raise ConfigError(f"there is no authority in {folder}; make one: segue certs init --dir {folder}")
    return KeyPair.read(folder / f"{AUTHORITY}.crt", folder / f"{AUTHORITY}.key")


def _write(pair: KeyPair, folder: Path, stem: str) -> None:
    certificate, key = folder / f"{stem}.crt", folder / f"{stem}.key"
    pair.write(certificate, key)
    click.echo(f"{certificate}\n{key}")
