"""How a command gets in: the options that say where and as whom, and what to do when it is not let in."""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

import click
from click.core import ParameterSource

from infra.kernel.printable import printable_lines
from infra.runtime.event_loop import run
from infra.runtime.network_reason import NOT_BELIEVED
from segue.sdk.errors import ConnectionLost, Refused, SegueError
from segue.sdk.token_source import Token

from ..cluster.tokens import kept, service_token, user_token
from .state import default_state, secret_of

OPEN_S: Final = 3.0
CA_VARIABLE: Final = "SEGUE_CA"
TOKEN_VARIABLES: Final = {"service": "SEGUE_SERVICE_TOKEN", "user": "SEGUE_TOKEN"}

Peer = Literal[
    "access point", "artist service", "broker", "broker of each site", "notification module", "playlist service", "social service"
]
# As `segue up` calls the addresses that it prints.
URL_VARIABLES: Final[dict[Peer, str]] = {
    "access point": "SEGUE_CLIENTS_URL",
    "artist service": "SEGUE_ARTIST_URL",
    "broker": "SEGUE_SERVICES_URL",
    "broker of each site": "SEGUE_SERVICES_URL",
    "notification module": "SEGUE_NOTIFICATION_URL",
    "playlist service": "SEGUE_PLAYLIST_URL",
    "social service": "SEGUE_SOCIAL_URL",
}

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Access:
    """The access of a command, as its options say.

    - `urls`: the addresses, which are tried in turn.
    - `token`: the token to show; None where one is made here.
    - `state`: the state directory, whose secret signs it then.
    - `ca`: the authorities that are believed at addresses with TLS; None: those that this machine trusts.
    """

    urls: tuple[str, ...]
    token: str | None
    state: Path
    ca: Path | None = None

    def as_user(self, user: str | None, who: str) -> Token:
        """Returns the token to show as `user`, or what makes one whenever one is needed.

        Raises UsageError where neither is given; it asks for `who`, such as "who listens".
        """
        if self.token is not None:
            return self.token
        if user is None:
            raise click.UsageError(f"say {who}: --user NAME (or --token)")
        secret_of(self.state)  # what is wrong with it is told before anybody connects
        return lambda: user_token(secret_of(self.state), user)

    def as_service(self, service: str) -> Token:
        """Returns the token to show as `service`, or what makes one whenever one is needed."""
        if self.token is not None:
            return self.token
        secret_of(self.state)
        return kept(lambda: service_token(secret_of(self.state), service))

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Runs `work` and returns its result. Raises ClickException, which says what to do first, where it raises SegueError."""
        try:
            return run(work)
        except SegueError as error:
            raise explained(error, self.urls) from error


def ca_option() -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Returns the option `--ca` of a command that connects. Its argument is `ca`."""
    words = f"Believe these authorities at addresses with TLS, as PEM.  [env: {CA_VARIABLE}; default: those of this machine]"
    return click.option("--ca", type=click.Path(path_type=Path, dir_okay=False), envvar=CA_VARIABLE, help=words)


def access_options(*, url: str, peer: Peer, whose: Literal["service", "user"]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Returns a decorator that gives a command `--url`, `--token`, `--state` and `--ca`, for it talks to a `peer`.

    The command gets them as its argument `access`, an Access.

    - `url`, `peer`: without `--url` it is what the variable of the `peer` says, or `url`.
    - `whose`: who shows the token. Each has a variable, so that a user's token in the environment is never shown as a service's.
    """
    variable, token_variable = URL_VARIABLES[peer], TOKEN_VARIABLES[whose]
    where = f"The {peer}; several are tried in turn.  [env: {variable}; default: {url}]"
    options = (
        click.option("--url", "urls", multiple=True, default=[url], envvar=variable, help=where),
        click.option("--token", envvar=token_variable, help=f"Show this token instead of one made here.  [env: {token_variable}]"),
        click.option("--state", type=click.Path(path_type=Path), default=default_state, help="Where the signing secret is kept."),
        ca_option(),
    )

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def with_access(*, urls: tuple[str, ...], token: str | None, state: Path, ca: Path | None, **others: Any) -> None:
            if others.get("user") is not None and _is_from_environment("token"):
                token = None  # whom an option names stands above the environment
            command(access=Access(urls, token, state, ca), **others)

        decorated: Callable[..., None] = with_access
        for option in reversed(options):
            decorated = option(decorated)
        return decorated

    return decorate


def _is_from_environment(option: str) -> bool:
    return click.get_current_context().get_parameter_source(option) is ParameterSource.ENVIRONMENT


def explained(error: SegueError, urls: Sequence[str]) -> click.ClickException:
    """Returns `error`, which came from one of `urls`, as one that says what to do first."""
    words = [str(error), *getattr(error, "__notes__", ())]
    match error:
        case Refused() if error.code.name == "token-expired":
            words.insert(0, "the token has expired; give a new --token, or none where --state has the secret that signs tokens")
        case Refused() if error.code.name == "bad-token":
            words.insert(0, "the token is not good here; give the --state that `segue up` was given, or a --token")
        case ConnectionLost() if NOT_BELIEVED in str(error):
            words.insert(0, "the server is not believed; give --ca FILE, the certificate of the authority that issued the server's")
        case ConnectionLost() if error.code is None:
            words.insert(0, f"nobody answers at {' or '.join(urls)}; start `segue up` first, or name another address with --url")
    return click.ClickException(printable_lines("\n".join(words)))
