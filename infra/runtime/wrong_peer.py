"""The refusal of a node that dialled an address where it has nothing to do."""

from infra.kernel.errors import Refused
from infra.kernel.frames import Hello


def wrong_peer(hello: Hello, here: str, serves: str) -> Refused:
    """Returns the refusal of the peer that said `hello`: who dialled, what is `here`, whom it `serves`, and what is to be mended."""
    who = f"{hello.role} {hello.site}/{hello.node}"
    return Refused("wrong-peer", f"{who} dialled {here}, which serves {serves}; correct the address in the configuration of {who}")
