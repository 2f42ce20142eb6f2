"""The sessions of each user at this access point, so that nobody has to look through all of them. Pure."""

from collections.abc import Iterable, Iterator

from .session import Session


class SessionsByUser:
    """The sessions that have said hello. As a rule a user has one, which is kept as it is; several are a dict."""

    __slots__ = ("_sessions",)

    def __init__(self) -> None:
        self._sessions: dict[str, Session | dict[Session, None]] = {}

    def __len__(self) -> int:
        """Returns the number of users."""
        return len(self._sessions)

    def __iter__(self) -> Iterator[str]:
        """Returns the names of all users."""
        return iter(self._sessions)

    def __contains__(self, user: object) -> bool:
        return user in self._sessions

    def of(self, user: str) -> Iterable[Session]:
        """Returns the sessions of `user` as they are now; what comes and goes later does not change the answer."""
        found = self._sessions.get(user)
        if found is None:
            return ()
        return tuple(found) if isinstance(found, dict) else (found,)

    def count(self, user: str) -> int:
        """Returns how many sessions `user` has."""
        found = self._sessions.get(user)
        return len(found) if isinstance(found, dict) else int(found is not None)

    def joined(self, session: Session) -> None:
        """Adds a session that has said hello."""
        found = self._sessions.setdefault(session.user, session)
        if isinstance(found, dict):
            found[session] = None
        elif found is not session:
            self._sessions[session.user] = {found: None, session: None}

    def left(self, session: Session) -> None:
        """Forgets a session that is gone, if it is known."""
        found = self._sessions.get(session.user)
        if found is session:
            del self._sessions[session.user]
        elif isinstance(found, dict) and session in found:
            del found[session]
            if len(found) == 1:
                (self._sessions[session.user],) = found
