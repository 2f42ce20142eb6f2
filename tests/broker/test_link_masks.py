"""Which subscribing links are of this site, and which one of a broker's site gets a copy."""

from broker.link_masks import LinkMasks
from infra.kernel.topics import user_topic

DAN = user_topic("dan")


def test_of_the_brokers_of_a_site_that_want_a_topic_one_is_left_the_owner_if_it_can() -> None:
    """SB-24"""
    owners = {"lon": "b2", "ash": None}
    links = LinkMasks(lambda site, topic: owners[site])
    links.open(0, False, ("sto", "a1"))
    for bit, peer in ((1, ("lon", "b1")), (2, ("lon", "b2")), (3, ("ash", "b1")), (4, ("ash", "b2"))):
        links.open(bit, True, peer)
    assert (links.local, links.far) == (0b1, 0b11110)
    assert links.once_per_site(0b01110, DAN) == 0b01100
    assert links.once_per_site(0b11010, DAN) == 0b01010, "nobody knows the owner there: always the same one"
    owners["lon"] = "b3"
    assert links.once_per_site(0b00110, DAN) == 0b00010


def test_a_link_that_is_gone_is_in_no_mask_and_the_newer_one_of_its_broker_stays() -> None:
    links = LinkMasks(lambda site, topic: "b1")
    links.open(1, True, ("lon", "b1"))
    links.open(2, True, ("lon", "b1"))  # which came back before the old link was gone
    links.open(3, True, ("lon", "b2"))
    links.close(1)
    links.open(0, False, ("sto", "a1"))
    links.close(0)
    assert (links.local, links.far) == (0, 0b1100)
    assert links.once_per_site(0b1100, DAN) == 0b0100
