"""One run of the demo: set the stage, play the first act and the second, sum up."""

from dataclasses import replace
from typing import Final

from .fans import fans
from .first_act import first_act
from .outcome import DemoOutcome
from .plan import DemoPlan
from .post import post
from .second_act import SecondAct
from .show import Show
from .stage import stage

SERVICES: Final = ("artist", "social")


async def run(plan: DemoPlan, show: Show) -> DemoOutcome:
    """Runs `plan`, tells `show` every step, and returns the outcome.

    Ctrl-C while it plays ends the playing, and the rest follows. Raises SegueError that says what to do. Cancelling it stops everything
    that it started.
    """
    async with post() as office, stage(plan, show, SERVICES, office.mailbox.port) as on:
        outcome = await first_act(plan, show, on.dataset, on.placement, on.cluster)
        show.next_act()
        door_of = {user: on.cluster.doors[site] for user, site in on.placement.site_of.items()}
        act = SecondAct(on.cluster, fans(on.dataset, plan.rng("fans")), door_of, office, on.catalogue, show)
        return replace(outcome, release=await act.run(plan.store))
