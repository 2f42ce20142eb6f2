"""Options of calls that go out."""

import msgspec

from infra.kernel.public_address import IPNetwork, parse_network


class OutgoingOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of the table `[outgoing]`: where this process may call over HTTP.

    - `private`: networks that are not public, and may be called all the same, such as "10.1.0.0/16" or "127.0.0.1". Pushes, webhooks,
      hooks, walls, catalogues and key sets go to public addresses and to these.
    """

    private: list[str] = []

    def check(self) -> None:
        """Raises ConfigError for what is no network."""
        self.networks()

    def networks(self) -> tuple[IPNetwork, ...]:
        """Returns `private`, parsed. Raises ConfigError."""
        return tuple(parse_network("outgoing.private", text) for text in self.private)
