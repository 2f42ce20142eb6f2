"""The site as the first page is told of it."""

import msgspec


class ClientPlace(msgspec.Struct, frozen=True):
    """A place to connect: the name of a site, and the address of an access point there."""

    site: str
    url: str


class HomeSite(msgspec.Struct, frozen=True):
    """A site: what runs, and where.

    - `clients`: where clients connect, one for each site.
    - `social`, `notification`: the origins of these services; None where they do not run.
    - `policy`: who may see what.
    - `mail`: whether mails go to the mailbox.
    """

    clients: list[ClientPlace]
    social: str | None
    notification: str | None
    policy: str
    mail: bool

    @property
    def origins(self) -> list[str]:
        """What the page connects to, as a Content-Security-Policy names it. It cannot name IPv6 addresses, so then it names schemes."""
        found = [place.url.partition("/v1/")[0] for place in self.clients] + [each for each in (self.social, self.notification) if each]
        schemes = dict.fromkeys(f"{each.partition(':')[0]}:" for each in found)
        return list(schemes) if any("[" in each for each in found) else list(dict.fromkeys(found))
