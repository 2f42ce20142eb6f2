"""The data of the demo, read once."""

import pytest

from segue.demo.dataset import Dataset, checkout_folder, load


@pytest.fixture(scope="session")
def lastfm() -> Dataset:
    """Returns the whole data set of the checkout; it is immutable."""
    return load(checkout_folder())
