"""Options of a capture: the table `[<role>.capture]` of every role that can write one."""

import msgspec

from .errors import ConfigError


class CaptureOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A trace of what a role sees, in the folder `path`; with "" there is none.

    `key_file` holds the secret behind the numbers of users and topics, the same for all nodes; it is made where there is none.
    A segment is written when it has `segment_rows` rows, or after `segment_s`; of more than `queue_rows` rows that are not
    written yet the newest are dropped.
    """

    path: str = ""
    key_file: str = ""
    segment_rows: int = 100_000
    segment_s: float = 60.0
    queue_rows: int = 200_000

    def check(self) -> None:
        """Raises ConfigError when fields contradict each other."""
        if self.path and not self.key_file:
            raise ConfigError(
                "capture.path needs capture.key_file: a file outside of it, the same for all nodes; it is made at the first use"
            )
        if not 0 < self.segment_rows <= self.queue_rows:
            raise ConfigError("capture.segment_rows must be over 0 and at most queue_rows, or no segment ever fills")
        if self.segment_s <= 0:
            raise ConfigError("capture.segment_s must be over 0; a killed process loses the rows of so many seconds")
