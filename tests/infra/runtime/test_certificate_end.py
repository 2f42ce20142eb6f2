"""infra.runtime.certificate_end: what the log says of a certificate that ends, at doors and on links."""

import asyncio

import pytest

from infra.runtime.certificate_end import DAY_S, CertificateEnd, watched
from segue.demo.until import until
from tests.support.recording_log import RecordingLog

ENDS_S = 1_900_000_000.0


def end_of(log: RecordingLog, of: str = "links") -> CertificateEnd:
    return CertificateEnd(of, lambda: ENDS_S, 14.0, log)


@pytest.mark.parametrize(("left_days", "level"), [(20, None), (14.1, None), (13.9, "warning"), (0.1, "warning"), (-1, "error")])
def test_the_log_warns_before_a_certificate_ends(left_days: float, level: str | None) -> None:
    """DPS-23, DPS-24."""
    log = RecordingLog()
    end_of(log).check(ENDS_S - left_days * DAY_S)
    assert [line[0] for line in log.lines] == ([] if level is None else [level])


def test_a_line_says_which_one_ends_and_when() -> None:
    log = RecordingLog()
    end_of(log, "doors").check(ENDS_S - 2.04 * DAY_S)
    [(_, _, fields)] = log.lines
    assert fields == {"of": "doors", "days": 2.0, "valid_until": "2030-03-17 17:46:40+00:00"}


async def test_all_are_looked_at_from_the_start_on_and_a_renewed_one_is_quiet() -> None:
    log, expires_s = RecordingLog(), [ENDS_S]
    renewed = CertificateEnd("doors", lambda: expires_s[0], 14.0, log)
    expires_s[0] += 365 * DAY_S
    async with watched(log, renewed, None, end_of(log), wall=lambda: ENDS_S + 1):
        assert await until(lambda: bool(log.lines), 20.0)
        await asyncio.sleep(0)
    assert [(level, fields["of"]) for level, _, fields in log.lines] == [("error", "links")]
