"""Results: what was found, and why the rest was not."""

import math

from analytics.characterization.results import Results


def test_what_the_manifest_rules_out_is_not_recorded_and_has_its_reason() -> None:
    results = Results({"rate": "truncated", "size.max": "capped", "online": "no devices"})
    for name in ("rate.max", "size.max", "size.r2", "sessions.per_user_day"):
        results.measure(name, 1)
    results.close()
    assert results.measures == {"size.r2": 1}
    assert (results.skipped["rate"], results.skipped["rate.max"], results.skipped["size.max"]) == ("truncated", "truncated", "capped")
    assert results.skipped["sessions.per_user_day"] == "no devices"


def test_what_is_no_number_is_told() -> None:
    results = Results({})
    results.measure_all({"size.r2": math.nan, "size.slope": None, "size.max": 3}, "too few")
    assert results.measures == {"size.max": 3}
    assert results.skipped == {"size.r2": "too few", "size.slope": "too few"}


def test_without_a_table_all_its_figures_and_their_measures_have_the_same_reason() -> None:
    results = Results({})
    results.lacks("sessions", "nobody looked")
    results.lacks("sessions", "later")
    results.measure("sessions.per_user_day", 3)
    results.close()
    assert results.skipped["online"] == results.skipped["session_length"] == results.skipped["sessions.per_user_day"] == "nobody looked"
    assert not results.wants("online")
    assert results.wants("churn")


def test_notes_on_one_figure_are_one_text_and_steps_are_timed() -> None:
    begun: list[str] = []
    results = Results({}, begun.append)
    with results.step("counting"):
        results.note("size", "One.")
        results.note("size", "Two.")
    assert results.binning == {"size": "One. Two."}
    assert begun == ["counting"]
    assert results.timings_s["counting"] >= 0
