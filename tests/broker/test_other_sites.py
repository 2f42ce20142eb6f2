"""What other sites are told of what is wanted here, and how long adopted topics wait for them."""

from typing import Any

from broker.client import SiteClient
from broker.other_sites import OtherSites
from infra.kernel.announcer import PARTING_BEATS
from infra.kernel.frames import HIGHEST_TAG, Applied, Hello, Subscribe, Unsubscribe, View
from infra.kernel.topics import user_topic
from infra.runtime.link import Link
from tests.support.recording_wire import RecordingWire

ANN, BOB = (1, user_topic("ann")), (2, user_topic("bob"))
VIEW = View(1, ("b1",))


class TwoSites:
    """The clients of lon and ash, each with a link to its one broker."""

    def __init__(self) -> None:
        nobody: Any = None  # they dial nobody
        self.clients = {site: SiteClient(nobody, site, {"b1": "x"}, wanted=lambda: ()) for site in ("lon", "ash")}
        self.wires = {site: RecordingWire() for site in self.clients}
        self.links = {site: Link(wire, self.hello(site), "x", 0.0, Link.flush) for site, wire in self.wires.items()}
        for site, client in self.clients.items():
            client.link_up(self.links[site])
        self.sites = OtherSites(self.clients)

    def hello(self, site: str) -> Hello:
        return Hello("broker", "b1", site, 1, 1, VIEW, tags=HIGHEST_TAG)

    def said(self, site: str) -> list[tuple[type, list[bytes]]]:
        """Returns the changes that were sent since this was asked for the last time."""
        changes = [(type(each), list(each.topics)) for each in self.wires[site].sent if isinstance(each, Subscribe | Unsubscribe)]
        self.wires[site].sent.clear()
        return changes

    def install(self, site: str) -> None:
        n = self.clients[site].announcer.told()["b1"]
        self.clients[site].frames(self.links[site], [Applied(n, {site: n})])


def test_every_other_site_is_told_and_nothing_is_said_of_nothing() -> None:
    two = TwoSites()
    for site in two.clients:
        two.said(site)
    two.sites.want([ANN])
    two.sites.want([])
    two.sites.unwant([BOB])
    two.sites.unwant([])
    two.sites.reweigh([])
    told = [(Subscribe, [ANN[1]]), (Unsubscribe, [BOB[1]])]
    assert [two.said(site) for site in two.clients] == [told, told]
    two.sites.ask_all()
    assert two.said("ash") == [(Subscribe, [])]


def test_what_is_reached_rises_to_the_marks_site_by_site() -> None:
    """SB-12"""
    two = TwoSites()
    two.sites.want([ANN])
    marks = two.sites.marks
    two.install("lon")
    assert (two.sites.reached["lon"], two.sites.reached["ash"]) == (marks["lon"], 0)


def test_adopted_topics_wait_for_every_site_that_is_there_and_not_for_ever() -> None:
    """DPS-13: before that their former owner goes on with what other sites send to it."""
    two = TwoSites()
    assert (two.sites.are_adopting, two.sites.know_adopted()) == (False, True)
    assert two.sites.adopt([ANN]) == two.sites.marks
    assert (two.sites.are_adopting, two.sites.know_adopted()) == (True, False)
    two.install("lon")
    assert not two.sites.know_adopted()
    two.install("ash")
    assert two.sites.know_adopted()
    assert not two.sites.are_adopting
    two.sites.adopt([BOB])
    two.install("lon")
    two.clients["ash"].link_down(two.links["ash"])
    assert two.sites.know_adopted(), "ash is gone"
    two.sites.adopt([BOB])
    for _ in range(PARTING_BEATS + 1):
        assert not two.sites.know_adopted()
        two.sites.tick()
    assert two.sites.know_adopted(), "lon does not answer"
