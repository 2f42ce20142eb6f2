"""The greatest weight first, and the first of equals first, however great they are."""

import numpy as np
import pytest

from analytics.planning.provisioning.order import falling


@pytest.mark.parametrize("unit", [1, 1 << 58])
def test_weights_fall_and_the_first_of_equals_is_first(unit: int) -> None:
    assert falling(np.array([1, 3, 0, 3, 1]) * unit).tolist() == [1, 3, 0, 4, 2]
    assert falling(np.empty(0, np.int64)).tolist() == []
