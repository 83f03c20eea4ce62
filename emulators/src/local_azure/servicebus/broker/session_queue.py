"""A queue whose messages belong to sessions. No I/O, no clock."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

from local_azure.servicebus.amqp.errors import AmqpError
from local_azure.servicebus.broker.limits import MAX_SESSION_STATE
from local_azure.servicebus.broker.message import C, Lock, Message, State
from local_azure.servicebus.broker.queue import Queue

if TYPE_CHECKING:
    from local_azure.events import EventLog
    from local_azure.servicebus.broker.backlog import Line
    from local_azure.servicebus.broker.intake import Due
    from local_azure.servicebus.broker.properties import QueueProperties


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionLock(Lock):
    """A receiver's exclusive right to the messages of a session, until a time.

    Attributes:
        until_closed: It does not end at that time but when its receiver goes.
    """

    session_id: str
    until_closed: bool


@dataclass(slots=True)
class _Session:
    """What is known of a session beside its messages."""

    lock: SessionLock | None = None
    state: bytes | None = None
    updated_at: float = 0.0


class SessionQueue(Queue[C]):
    """A queue that gives out messages by session, to the one receiver that has locked it.

    The session's lock is the umbrella of its messages' locks: they end with it.
    """

    def __init__(
        self,
        name: str,
        properties: QueueProperties,
        events: EventLog,
        dead_letters: Queue[C] | None = None,
        transfer_dead_letters: Queue[C] | None = None,
    ) -> None:
        super().__init__(name, properties, events, dead_letters, transfer_dead_letters)
        self._sessions: dict[str, _Session] = {}

    # ------------------------------------------------------------ locking

    def accept(
        self, session_id: str | None, now: float, *, until_closed: bool = False
    ) -> SessionLock | None:
        """Locks a session, or the one whose message waits first among those that are free.

        Args:
            session_id: The session; ``None`` for the next available one.
            now: The time.
            until_closed: The lock does not end by itself.

        Returns:
            The lock, or ``None`` if no session is available.

        Raises:
            AmqpError: Another receiver has locked the session.
        """
        self.expire(now)
        chosen = self._next_available() if session_id is None else session_id
        if chosen is None:
            return None
        if self._lock_of(chosen) is not None:
            raise AmqpError(
                "com.microsoft:session-cannot-be-locked",
                f"The requested session '{chosen}' cannot be accepted. It may be locked by "
                "another receiver.",
            )
        self._log("session_accepted", now, chosen)
        return self._lock_session(
            SessionLock(
                token=uuid4(),
                until=self._lock_end(now),
                session_id=chosen,
                until_closed=until_closed,
            )
        )

    def renew_session(self, lock: SessionLock, now: float) -> SessionLock:
        """Begins the session lock's time anew; raises if it is lost."""
        self.check_held(lock, now)
        self._log("session_renewed", now, lock.session_id)
        return self._lock_session(replace(lock, until=self._lock_end(now)))

    def holds(self, lock: SessionLock) -> bool:
        """Whether a session is still locked as it was granted."""
        held = self._lock_of(lock.session_id)
        return held is not None and held.token == lock.token

    def check_held(self, lock: SessionLock, now: float) -> None:
        """Raises `AmqpError` if the lock is lost, perhaps to another receiver."""
        self.expire(now)
        if not self.holds(lock):
            raise self.lock_lost()

    def close(self, lock: SessionLock, now: float) -> None:
        """Gives a session back; its messages that were not settled do not count as delivered."""
        self.expire(now)
        if self.holds(lock):
            self._log("session_closed", now, lock.session_id)
            for token in self._unlock_session(lock.session_id):
                self.release(token, now)
            self.listener.available()

    def drop_lock(self, token: UUID, now: float) -> None:
        """Ends the lock of a message's session early: it is the message's."""
        self.expire(now)
        message = self.locked(token)
        lock = None if message is None else self._lock_of(message.session_id)
        if lock is not None:
            self.drop_session_lock(lock, now)

    def drop_session_lock(self, lock: SessionLock, now: float) -> None:
        """Ends a session's lock early."""
        self.expire(now)
        if self.holds(lock):
            self._lapse_session(lock.session_id, now)

    def _next_available(self) -> str | None:
        waiting = [
            (number, line)
            for line, number in self._backlog.fronts().items()
            if line is not None and self._lock_of(line) is None
        ]
        return min(waiting)[1] if waiting else None

    def _lock_of(self, session_id: Line) -> SessionLock | None:
        session = None if session_id is None else self._sessions.get(session_id)
        return None if session is None else session.lock

    def _held_session(self, session_id: Line) -> SessionLock:
        lock = self._lock_of(session_id)
        if lock is None:
            raise self.lock_lost()
        return lock

    def _lock_session(self, lock: SessionLock) -> SessionLock:
        self._sessions.setdefault(lock.session_id, _Session()).lock = lock
        for token, message in self._locked_in(lock.session_id).items():
            holder = None if message.lock is None else message.lock.holder
            message.lock = Lock(token=token, until=lock.until, holder=holder)
        if not lock.until_closed:
            self._at(lock.until, lock.session_id)
        return lock

    def _locked_in(self, session_id: str) -> dict[UUID, Message[C]]:
        return {
            token: message
            for token, message in self._locked.items()
            if message.session_id == session_id
        }

    def _unlock_session(self, session_id: str) -> list[UUID]:
        session = self._sessions[session_id]
        session.lock = None
        self._agenda.cancel(session_id)
        if session.state is None:
            del self._sessions[session_id]
        return list(self._locked_in(session_id))

    def _happen(self, due: Due, now: float) -> None:
        if isinstance(due, str):
            self._lapse_session(due, now)
        else:
            super()._happen(due, now)

    def _lapse_session(self, session_id: str, now: float) -> None:
        self._log("session_expired", now, session_id)
        for token in self._unlock_session(session_id):
            self._lapse(token, now)
        self.listener.session_lost()
        self.listener.available()

    # ------------------------------------------------------------ state

    def state(self, lock: SessionLock, now: float) -> bytes | None:
        """What was stored with a session; raises if its lock is lost."""
        self.check_held(lock, now)
        return self._sessions[lock.session_id].state

    def set_state(self, lock: SessionLock, state: bytes | None, now: float) -> None:
        """Stores something with a session; raises if its lock is lost, or if it is too much."""
        self.check_held(lock, now)
        if len(state or b"") > MAX_SESSION_STATE:
            raise AmqpError(
                "com.microsoft:argument-out-of-range",
                f"The state of a session cannot exceed {MAX_SESSION_STATE} bytes.",
            )
        session = self._sessions[lock.session_id]
        session.state, session.updated_at = state, now
        self._log("session_state_set", now, lock.session_id)

    def sessions(self, now: float, updated_after: float | None = None) -> list[str]:
        """Sessions with messages or a state, or those whose state was set after a time."""
        self.expire(now)
        if updated_after is not None:
            return [
                session_id
                for session_id, session in self._sessions.items()
                if session.state is not None and session.updated_at > updated_after
            ]
        active = (m.session_id for m in self.messages if m.state is State.ACTIVE)
        stored = (name for name, session in self._sessions.items() if session.state is not None)
        return [name for name in dict.fromkeys([*active, *stored]) if name is not None]

    # ------------------------------------------------------------ messages

    def _check_line(self, line: Line) -> None:
        self._held_session(line)

    def renew(self, token: UUID, now: float) -> Lock:
        raise AmqpError("amqp:not-allowed", "The lock of the session is renewed, not a message's.")

    def _check_sent(self, content: C) -> None:
        super()._check_sent(content)
        if content.session_id is None:
            raise AmqpError(
                "amqp:not-allowed",
                "The SessionId was not set on a message, and it cannot be sent to the entity. "
                "Entities that have session support enabled can only receive messages that have "
                "the SessionId set to a valid value.",
            )

    def _enqueue(self, message: Message[C], now: float) -> None:
        if message.session_id is None:
            text = "A message without a session's id came to an entity that requires sessions."
            self._bury(message, "Session ID is null.", text, now)
        else:
            super()._enqueue(message, now)

    def _line(self, message: Message[C]) -> Line:
        return message.session_id

    def _lock(self, message: Message[C], token: UUID, now: float, holder: object) -> Lock:
        until = self._held_session(message.session_id).until
        message.lock = lock = Lock(token=token, until=until, holder=holder)
        return lock

    def lock_lost(self) -> AmqpError:
        return AmqpError(
            "com.microsoft:session-lock-lost",
            "The session lock has expired. Accept a new session.",
        )
