"""The wishes of operators for the ring of a site, on their way to the broker that issues its views.

Views have numbers that rise. If the broker that an operator asks issued one itself, another broker might issue a step of the ring at the
same time: two views of one number, of which only one holds. Under the other one, topics would have gone to brokers that know nothing of it.
So whoever issues views takes wishes as well, and checks them against the view that holds there. Of two at once, one is a conflict.
"""

from collections.abc import Collection, Mapping
from typing import Final

from msgspec.structs import replace

from infra.kernel.errors import Refused, Unavailable
from infra.kernel.frames import Reply, RingWish, View
from infra.kernel.open_calls import refusal_of
from infra.runtime.call_client import CallClient
from infra.runtime.link import Link

from .mesh import Mesh
from .options import BrokerOptions

# How long the answer of the broker that issues views is waited for. It needs no time: one that does not answer so soon is gone, or stands.
WISH_S: Final = 2.0


class RingWishes:
    """The wishes that come to one broker, from operators and from other brokers.

    - `options`: name the site and its slots.
    - `mesh`: knows who issues views, and is told where the ring goes.
    """

    def __init__(self, options: BrokerOptions, mesh: Mesh) -> None:
        self._me, self._site, self._slots, self._mesh = options.slot, options.site, options.sites[options.site], mesh
        self._calls = CallClient(WISH_S)

    async def bring(self, wish: RingWish) -> None:
        """Brings `wish` to the broker that issues views. When this returns, the view that follows is here.

        Raises `Refused` where that broker refuses it or cannot be asked, and `Unavailable` where it has not answered: it may have done it.
        """
        issuer = self._mesh.issuer()
        if issuer is None or issuer == self._me:
            self._grant(wish)
            return
        try:
            reply = await self._calls.ask(self._link_to(issuer), lambda n: replace(wish, n=n))
        except Unavailable as trouble:
            raise Unavailable(f"{issuer} of {self._site}, which issues views, has not answered ({trouble}): look again") from trouble
        if (refused := refusal_of(reply)) is not None:
            raise refused

    def take(self, link: Link, frame: RingWish | Reply) -> None:
        """Takes a wish that another broker of the site brings, and answers it; or such an answer."""
        if isinstance(frame, Reply):
            self._calls.reply(link, frame)
        else:
            link.send(self._answer(frame))  # the view that follows has been sent on each link before

    def link_down(self, link: Link) -> None:
        """Gives up what a broker that is gone has not answered."""
        self._calls.link_down(link)

    def _link_to(self, issuer: str) -> Link:
        link = self._mesh.client.links.get(issuer)
        if link is None:
            raise Refused("unavailable", f"{issuer} of {self._site}, which issues views, cannot be reached from {self._me}; try again")
        if not link.knows(RingWish):
            raise Refused("unavailable", f"{issuer} of {self._site}, which issues views, is of an older version: ask it at its own door")
        return link

    def _answer(self, wish: RingWish) -> Reply:
        try:
            self._grant(wish)
        except Refused as refused:
            return Reply(wish.n, refused.code.name, refused.reason, b"")
        return Reply(wish.n, "", "", b"")

    def _grant(self, wish: RingWish) -> None:
        """Has the ring go where `wish` says. Raises `Refused` where that cannot be meant, or where others issue views."""
        if (issuer := self._mesh.issuer()) != self._me:
            raise Refused("unavailable", f"{issuer or 'nobody'} issues views at {self._site}, not {self._me}; try again")
        view = self._mesh.view
        if wish.goal is None:
            goal = view.share_of
        else:
            check_wish(wish.goal, wish.before, view, self._site, self._slots)
            if not self._mesh.can_step():
                raise Refused("unavailable", f"somebody linked to the brokers of {self._site} is of a version without shares")
            goal = wish.goal
        if any(view.goal_of[slot] != share for slot, share in goal.items() if slot in view.slots):
            self._mesh.aim(goal)


def check_wish(goal: Mapping[str, int], before: Mapping[str, int], view: View, site: str, slots: Collection[str]) -> None:
    """Raises `Refused` where the ring of `site` cannot go from `view` to the shares of `goal`.

    - `before`: where it was to go when that was decided. Whoever decides at the same time is told so.
    - `slots`: those that the configuration names.
    """
    if strange := sorted({*before, *goal} - {*slots}):
        raise Refused("bad-field", f"there is no slot {strange[0]!r:.80} at {site}; there are {', '.join(sorted(slots))}")
    if absent := sorted(slot for slot, share in goal.items() if share and slot not in view.slots):
        raise Refused("bad-field", f"{absent[0]} of {site} is not in the view; start it first")
    now = view.goal_of
    if {slot: now.get(slot, 0) for slot in {*now, *before}} != {slot: before.get(slot, 0) for slot in {*now, *before}}:
        raise Refused("conflict", f"the ring of {site} is to go to {_shown(now)}, not to {_shown(before)}: look again")
    if not any((now | dict(goal)).get(slot) for slot in view.slots):
        raise Refused("bad-field", f"nobody at {site} would own any topic; leave a share to one of {', '.join(view.slots)}")


def _shown(shares: Mapping[str, int]) -> str:
    return ", ".join(f"{slot} {share}" for slot, share in sorted(shares.items())) or "nothing"
