"""What the interest of brokers takes: measured in small, and told for full size."""

import subprocess
import sys
from typing import Final

import msgspec

from bench.micro.interest import InterestFigures
from bench.suite.interest import MOST_BYTES, ROWS, at_full_size
from tests.support.eventually import DEADLINE_S

# As full as ten million are: what holds them grows by doubling.
FEWER: Final = ROWS >> 5


def test_a_row_takes_no_more_than_is_promised() -> None:
    """SB-22: by the memory that a process has for it. Ten million rows are measured by `bench interest`."""
    ended = subprocess.run([sys.executable, "-m", "bench.micro.interest", str(FEWER)], capture_output=True, check=True, timeout=DEADLINE_S)
    figures = msgspec.json.decode(ended.stdout, type=InterestFigures)
    assert 50 < figures.bytes_per_row <= MOST_BYTES
    assert min(figures.plain().values()) > 0


def test_the_servers_for_all_pairs_of_the_paper_are_told() -> None:
    """SB-22: 600 million."""
    assert at_full_size(128) == (
        "600 million (topic, aggregator) pairs take 77 GB if no two share a topic (SB-22): "
        "3 servers of 64 GiB that give 50% of it to interest."
    )
