"""Text columns of few different words: codes with their words. Arrow makes text of them when they are written."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .profile import Profile


def words(codes: NDArray[Any], names: Sequence[str]) -> pa.DictionaryArray:
    """Returns `names[code]` for each code. Codes are below 128."""
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int8)), pa.array(names, pa.string()))


def word(name: str, rows: int) -> pa.DictionaryArray:
    """Returns the same word in all rows."""
    return words(np.zeros(rows, np.int8), (name,))


def site_column(profile: Profile, codes: NDArray[np.uint8]) -> dict[str, pa.DictionaryArray]:
    """Returns the column `site` of a table, from indices in `profile.sites`; no column at all where the profile knows no sites."""
    return {"site": words(codes, profile.sites)} if profile.sites else {}
