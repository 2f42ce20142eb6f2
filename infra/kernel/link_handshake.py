"""The handshake of a link, as a table: what each side says and checks until it knows who the other one is (DPS-24).

Who a peer is stands in its `Hello`. What proves that depends on the mode of both sides:

- *open*: nothing. The hello is believed.
- *tls*: the wire itself has proved a certificate. One of its names must be the URI of the node that the hello claims
  (`node_name`).
- *secret*: both sides know one. Each hello has a nonce that was never used before, and each side then sends an HMAC over who both hellos
  say that they are, and over both nonces. It names the side that sends it, so it cannot be reflected. The nonces make it useless for any
  other handshake, so it cannot be replayed.
  The caller goes first: a stranger who calls gets no MAC of ours to work on.

A secret says that the peer is one of us, and that nobody has changed who it says that it is. It hides nothing, and does not protect what
is said afterwards.

Both sides must have the same mode. So nobody is talked down to a weaker one.
"""

import hashlib
import hmac
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, Final, Literal, NamedTuple

import msgspec

from .codes import BY_NUMBER
from .errors import Refused
from .frames import PROTOCOL, AnyFrame, Bye, Frame, Hello, Proof

NONCE_BYTES: Final = 32
LinkAuthMode = Literal["open", "tls", "secret"]

_ENCODE: Final = msgspec.msgpack.Encoder().encode


class LinkSide(Enum):
    """The side of a link: the one that calls, or the one that is called."""

    CALLER = "caller"
    CALLED = "called"


class HandshakeStage(Enum):
    """The progress of a handshake, named for what it waits for."""

    HELLO = "hello"
    PROOF = "proof"
    DONE = "done"


class LinkCredentials(NamedTuple):
    """The means of proof of one side, which are also what it asks for.

    - `mode`: see above.
    - `secrets`: the first one proves; all of them are accepted of a caller. So a secret can be changed without a gap.
    - `nonce`: bytes that nobody has seen before; empty unless the mode is `secret`.
    """

    mode: LinkAuthMode = "open"
    secrets: Sequence[bytes] = ()
    nonce: bytes = b""


class HandshakeStep(NamedTuple):
    """The consequence of a frame: what is to be said, and who the peer is once that is known."""

    say: tuple[Frame, ...]
    peer: Hello | None


def node_name(site: str, role: str, node: str) -> str:
    """Returns the URI that names a node in its certificate: site, role, and slot or node.

    It is no host name: nodes move between hosts and keep who they are, and no host name can be taken for a node.
    """
    return f"segue://{site}/{role}/{node}"


def link_mac(secret: bytes, side: LinkSide, caller: Hello, called: Hello) -> bytes:
    """Returns the proof that `side` gives in the handshake that these two hellos have begun."""
    said = [(hello.role, hello.site, hello.node, hello.incarnation, hello.version, hello.nonce) for hello in (caller, called)]
    return hmac.digest(secret, _ENCODE(("segue link 1", side.value, *said)), hashlib.sha256)


class LinkHandshake:
    """One handshake, as one side sees it.

    - `hello(nonce)`: makes our own hello, when it is said.
    - `names`: what the wire has proved, from the peer's certificate.
    - `expect(hello)`: raises Refused if we have not meant to talk to who says `hello`.
    """

    def __init__(
        self,
        side: LinkSide,
        credentials: LinkCredentials,
        hello: Callable[[bytes], Hello],
        *,
        names: frozenset[str] = frozenset(),
        expect: Callable[[Hello], None] = lambda hello: None,
    ) -> None:
        self.stage = HandshakeStage.HELLO
        self._side, self._credentials, self._names = side, credentials, names
        self._make_hello, self._expect = hello, expect
        self._mine: Hello | None = None
        self._theirs: Hello | None = None
        self._secret = b""

    @property
    def takes_time(self) -> bool:
        """Whether there is time between our hello and the link, in which what it says may grow old."""
        return self._side is LinkSide.CALLER or self._credentials.mode == "secret"

    def begin(self) -> tuple[Frame, ...]:
        """Returns what is to be said before the peer has said anything."""
        return (self._hello(),) if self._side is LinkSide.CALLER else ()

    def take(self, frame: AnyFrame) -> HandshakeStep:
        """Returns what follows from `frame`. Raises Refused: then there will be no link."""
        if isinstance(frame, Bye):
            code = BY_NUMBER.get(frame.number)
            raise Refused(code.name if code else "bad-link-frame", frame.shown)
        row = _TABLE.get((self._side, self._credentials.mode, self.stage))
        if row is None or not isinstance(frame, row.wants):
            wanted = row.wants.__name__ if row else "none at all"
            raise Refused("bad-link-frame", f"the next frame of the handshake must be {wanted}, not {type(frame).__name__}")
        row.check(self, frame)
        say = tuple(speak(self) for speak in row.say)
        self.stage = row.next
        return HandshakeStep(say, self._theirs if row.next is HandshakeStage.DONE else None)

    # What the table checks.

    def _check_hello(self, hello: Hello) -> None:
        if hello.version != PROTOCOL:
            raise Refused("version-mismatch", f"we speak version {PROTOCOL}, the peer {hello.version}")
        self._expect(hello)
        self._theirs = hello

    def _check_name(self, hello: Hello) -> None:
        self._check_hello(hello)
        if (name := node_name(hello.site, hello.role, hello.node)) not in self._names:
            shown = ", ".join(sorted(self._names)) or "nothing"
            why = f"the peer says that it is {name}, its certificate names {shown}"
            raise Refused("link-not-proved", f"{why}: issue one with segue certs node, for this role, site and node")

    def _check_nonce(self, hello: Hello) -> None:
        self._check_hello(hello)
        if len(hello.nonce) != NONCE_BYTES:
            why = f"{hello.role} {hello.site}/{hello.node} offers no proof, and links here are proved by a secret"
            raise Refused("link-not-proved", f'{why}: both sides need [link_auth] mode = "secret" and the same secret')

    def _check_proof(self, proof: Proof) -> None:
        other = LinkSide.CALLED if self._side is LinkSide.CALLER else LinkSide.CALLER
        secrets = self._credentials.secrets[:1] if self._side is LinkSide.CALLER else self._credentials.secrets
        for secret in secrets:
            if hmac.compare_digest(link_mac(secret, other, *self._hellos()), proof.mac):
                self._secret = secret  # the called side answers with the very secret that the caller has
                return
        theirs = self._theirs
        who = f"{theirs.role} {theirs.site}/{theirs.node}" if theirs is not None else "the peer"
        raise Refused("link-not-proved", f"{who} does not know the secret of links that is used here: compare link_auth.secret_files")

    # What the table says.

    def _hello(self) -> Hello:
        self._mine = self._make_hello(self._credentials.nonce)
        return self._mine

    def _proof(self) -> Proof:
        return Proof(link_mac(self._secret or self._credentials.secrets[0], self._side, *self._hellos()))

    def _hellos(self) -> tuple[Hello, Hello]:
        assert self._mine is not None
        assert self._theirs is not None
        return (self._mine, self._theirs) if self._side is LinkSide.CALLER else (self._theirs, self._mine)


class _Row(NamedTuple):
    """A row of the table: the frame that is waited for, its check, what is said then, and the next stage."""

    wants: type[Hello] | type[Proof]
    check: Callable[[LinkHandshake, Any], None]
    say: tuple[Callable[[LinkHandshake], Frame], ...]
    next: HandshakeStage


_HELLO, _PROOF, _DONE = HandshakeStage.HELLO, HandshakeStage.PROOF, HandshakeStage.DONE
_CALLER, _CALLED = LinkSide.CALLER, LinkSide.CALLED
# The caller has said its hello before (`begin`).
_TABLE: Final[dict[tuple[LinkSide, LinkAuthMode, HandshakeStage], _Row]] = {
    (_CALLED, "open", _HELLO): _Row(Hello, LinkHandshake._check_hello, (LinkHandshake._hello,), _DONE),
    (_CALLER, "open", _HELLO): _Row(Hello, LinkHandshake._check_hello, (), _DONE),
    (_CALLED, "tls", _HELLO): _Row(Hello, LinkHandshake._check_name, (LinkHandshake._hello,), _DONE),
    (_CALLER, "tls", _HELLO): _Row(Hello, LinkHandshake._check_name, (), _DONE),
    (_CALLED, "secret", _HELLO): _Row(Hello, LinkHandshake._check_nonce, (LinkHandshake._hello,), _PROOF),
    (_CALLER, "secret", _HELLO): _Row(Hello, LinkHandshake._check_nonce, (LinkHandshake._proof,), _PROOF),
    (_CALLED, "secret", _PROOF): _Row(Proof, LinkHandshake._check_proof, (LinkHandshake._proof,), _DONE),
    (_CALLER, "secret", _PROOF): _Row(Proof, LinkHandshake._check_proof, (), _DONE),
}
