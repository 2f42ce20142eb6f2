"""The odd traces of the contract tests are valid themselves."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings

from analytics.trace import Trace
from analytics.validation import validate
from tests.support.odd_traces import ODD_TRACES, OddTrace, odd_traces


@pytest.mark.parametrize("name", ODD_TRACES)
def test_a_named_one_is_valid(name: str, tmp_path: Path) -> None:
    assert validate(Trace.open(ODD_TRACES[name].write(tmp_path / "t"))).errors == 0


@settings(max_examples=60)
@given(trace=odd_traces())
def test_one_that_is_made_up_is_valid(trace: OddTrace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        report = validate(Trace.open(trace.write(Path(folder) / "t")))
    assert report.errors == 0, report.defects
