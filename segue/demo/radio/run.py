"""One run of Segue Radio: the users of the data play at the sites of the demo, and whoever opens the page joins them."""

import asyncio
import time
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from math import inf
from typing import Final

from infra.kernel.errors import SegueError
from infra.runtime.event_loop import ended_by_ctrl_c
from segue.cluster.tokens import user_token
from segue.demo.crowd import Crowd, for_each
from segue.demo.dataset import Dataset
from segue.demo.desk import Desk
from segue.demo.listening import Play, schedule
from segue.demo.plan import DemoPlan
from segue.demo.push_service import PushService
from segue.demo.show import Show
from segue.demo.stage import DemoStage, stage
from segue.mailbox.server import MailServer

from .files import need_built
from .label import RecordLabel
from .news import RadioNews
from .radio_mails import RadioMails
from .roster import roster
from .server import Backend, RadioServer

SERVICES: Final = ("artist", "social", "playlist")
# A user with thirty friends hears a play every few seconds, which is as much as a person can read.
RATE_PER_S: Final = 20.0


async def run_radio(plan: DemoPlan, show: Show) -> None:
    """Runs Segue Radio as `plan` says until its time is over, or until Ctrl-C. `show` is told every step, and the address of the page.

    Raises SegueError that says what to do, before anything starts where the page is not built. Cancelling it stops everything.
    """
    folder, news = need_built(), RadioNews()
    mails, pushes = RadioMails(news, time.time), PushService(lambda user, push: news.tell(user, "push", push))
    async with MailServer(mails.take) as mail_server, pushes, stage(plan, show, SERVICES, mail_server.port) as on:
        doors = {user: on.cluster.doors[site] for user, site in on.placement.site_of.items()}
        async with Crowd(doors, partial(user_token, on.cluster.secret), lambda *_: None) as crowd:
            on_air = OnAir(crowd, on.dataset)
            await on_air.begin(show)
            async with Desk(on.cluster.services, on.cluster.secret) as desk:
                label = RecordLabel(on.catalogue, desk)
                backend = Backend(
                    roster=roster(on.dataset),
                    doors=doors,
                    services=on.cluster.services,
                    token=partial(user_token, on.cluster.secret),
                    leave=on_air.leave,
                    release=label.release,
                    subscribe=pushes.subscribe,
                    mails=mails.of,
                )
                async with RadioServer(folder, backend, news) as radio:
                    show.say(f"Segue Radio is on the air at {radio.link}")
                    await _play(plan, show, on, on_air)


class OnAir:
    """The users who play by themselves, until somebody logs in as them."""

    def __init__(self, crowd: Crowd, dataset: Dataset) -> None:
        self._crowd, self._dataset = crowd, dataset
        self._left: set[str] = set()

    async def begin(self, show: Show) -> None:
        """Connects everybody. Each plays something of the artist whom they play most, so that a page opens with something to see."""
        with show.phase("connect", len(self._dataset.friends)) as phase:
            await self._crowd.connect(phase.one_done)
            phase.outcome = f"{len(self._dataset.friends):,} users, each on a WebSocket of its own"
        favourites = {user: max(rows, key=lambda row: (row[1], -row[0]))[0] for user, rows in self._dataset.plays.items() if rows}

        async def one(user: str) -> None:
            await self._try(Play(0.0, user, favourites[user], self._dataset.artists[favourites[user]], 1))

        with show.phase("open") as phase:
            await for_each(favourites, one)
            phase.outcome = "everybody plays their favourite artist"

    async def leave(self, user: str) -> None:
        """Lets somebody log in as `user`: nobody else is connected as them, or plays for them."""
        self._left.add(user)
        await self._crowd.leave(user)

    async def run(self, plays: Iterable[Play]) -> None:
        """Plays each of `plays` at its time, but for users who have left."""
        loop = asyncio.get_running_loop()
        start_s = loop.time()
        for play in plays:
            await asyncio.sleep(max(0.0, start_s + play.at_s - loop.time()))
            await self._try(play)

    async def _try(self, play: Play) -> None:
        if play.user not in self._left:
            with suppress(SegueError):  # a play that is refused or lost is not heard, and the next one comes
                await self._crowd.play(play.user, "", artist=play.artist_name, track=f"Track {play.track_no}")


async def _play(plan: DemoPlan, show: Show, on: DemoStage, on_air: OnAir) -> None:
    """Plays until the time of `plan` is over, or until Ctrl-C."""
    plays = schedule(on.dataset, duration_s=plan.seconds, rng=plan.rng("plays"), speed=plan.speed, rate_per_s=plan.rate_per_s)
    with show.phase("radio", None if plan.seconds == inf else plan.seconds, "s") as phase:
        playing = asyncio.create_task(on_air.run(plays), name="radio")
        try:
            with ended_by_ctrl_c(playing):
                await asyncio.wait({playing})
        finally:
            playing.cancel()
            await asyncio.wait({playing})
        phase.outcome = "the radio is off the air"
