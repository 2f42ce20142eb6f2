"""What was published is what the thesis says, and is found for the cases it was published of."""

from analytics.planning import published


def test_ratios_are_those_of_figure_6_3() -> None:
    found = {(each.metric, each.threshold_share): each.ratio for each in published.RATIOS}
    assert [found["b3m", share] for share in published.THRESHOLD_SHARES] == [0.87, 0.75, 0.82]
    assert found["fb3m", 1.0] == 0.9


def test_savings_are_those_of_figures_7_4_and_7_5_and_fall_as_the_threshold_rises() -> None:
    assert published.saving("spotify", "c3.large", 10) == 0.33
    assert published.saving("twitter", "c3.xlarge", 1000) == 0.203
    for profile in ("spotify", "twitter"):
        for machine in ("c3.large", "c3.xlarge"):
            found = [published.saving(profile, machine, threshold) or 0.0 for threshold in published.THRESHOLDS]
            assert found == sorted(found, reverse=True)


def test_of_other_traces_and_machines_nothing_was_published() -> None:
    assert published.saving(None, "c3.large", 10) is None
    assert published.saving("spotify", "c7g.large", 10) is None
    assert published.whole(None) is None
    whole = published.whole("twitter")
    assert whole is not None
    assert whole.saved == 0.74
