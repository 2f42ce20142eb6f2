"""The study of harm."""

from overlay.report.studies.harm import HARM, HarmPoint, claims
from tests.support.tiny_studies import tiny


def point(kind: str, share: float, hits: tuple[float, ...]) -> HarmPoint:
    """Returns a point of a kind of wrongdoers who have a share of all views that is their own."""
    return HarmPoint(kind, share, hits, (share,) * 3, 0.0, (0.0, 2.0, 6.0))


def test_repair_must_bring_more_for_each_share() -> None:
    """OV-5."""
    kinds = ("freeride", "tell all lies and freeride")
    good = [point(kind, share, (0.9, 0.99, 0.999)) for kind in kinds for share in (0.1, 0.2)]
    assert [each.holds for each in claims(good, is_full=True)] == [True, True]
    assert [each.holds for each in claims(good, is_full=False)] == [None, None]
    worse = [*good, point("freeride", 0.3, (0.9, 0.9, 0.9))]
    assert [each.holds for each in claims(worse, is_full=True)] == [False, True]
    assert (
        "10 % of the nodes: 90.0 % without, 99.0 and 99.90 % with 1 and 3 rounds, 10 % of Rings" in claims(good, is_full=True)[0].measured
    )


def test_a_small_overlay_loses_events_to_freeriders_and_gets_most_of_them_back() -> None:
    """OV-5."""
    rows = {str(row[0]): [float(value) for value in row[1:]] for row in tiny(HARM).table("harm").rows}
    honest, freeriders, liars = rows["nobody does wrong"], rows["freeride"], rows["tell all lies and freeride"]
    assert honest[1] > freeriders[1]
    assert freeriders[1] < freeriders[2] < freeriders[3]
    assert freeriders[0] == liars[0] == 30
    assert rows["offer themselves"][4] > freeriders[4]
    assert honest[4:7] == [0, 0, 0]
    assert freeriders[8] > 0
