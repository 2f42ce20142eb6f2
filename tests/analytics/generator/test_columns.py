"""Columns of few words."""

import numpy as np

from analytics.generator.columns import site_column, word, words
from analytics.generator.profile import profile


def test_codes_become_their_words() -> None:
    assert words(np.array([1, 0, 1], np.uint8), ("join", "leave")).to_pylist() == ["leave", "join", "leave"]
    assert words(np.array([True, False]), ("join", "leave")).to_pylist() == ["leave", "join"]
    assert word("edit", 2).to_pylist() == ["edit", "edit"]


def test_sites_have_the_names_of_the_profile_and_no_column_without_sites() -> None:
    codes = np.array([2, 0], np.uint8)
    assert site_column(profile("spotify", 0.01, 1), codes)["site"].to_pylist() == ["ash", "sto"]
    assert site_column(profile("twitter", 0.01, 1), codes) == {}
