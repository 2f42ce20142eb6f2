"""A session without a client, which may be one that cannot be ended."""

from accesspoint.session import SessionState
from infra.kernel.errors import Refused


class BrokenSession:
    """A session that was last heard at 0; its end is noted in `ended` by its `name`, and raises KeyError if it `is_bad`."""

    def __init__(self, name: str, ended: list[str], state: SessionState, *, is_bad: bool = False) -> None:
        self.name, self.state, self.heard_s = name, state, 0.0
        self._ended, self._is_bad = ended, is_bad

    def end(self, refused: Refused) -> None:
        """Ends, and says so."""
        self.abort()

    def rested(self) -> None:
        """Reads on."""

    def abort(self) -> None:
        """Ends at once."""
        self._ended.append(self.name)
        if self._is_bad:
            raise KeyError(self.name)
