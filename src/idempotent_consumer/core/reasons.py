"""Why a message is dead-lettered: one closed list."""

from __future__ import annotations

from enum import StrEnum


class Reason(StrEnum):
    """The ``DeadLetterReason`` of a message that this library dead-letters."""

    MISSING_MESSAGE_ID = "MissingMessageId"
    """The message has no key: absent or blank."""
    INVALID_MESSAGE_ID = "InvalidMessageId"
    """The key is one that unrelated messages share, such as an all-zero GUID."""
    KEY_DISAGREES = "KeyDisagrees"
    """The document's own id or partition value is not the message's key."""
    MALFORMED_BODY = "MalformedBody"
    """The body is not one strict JSON object in UTF-8, or the decoder refused it."""
    UNSUPPORTED_CONTENT = "UnsupportedContent"
    """The body is declared, or sent, as something else than JSON in UTF-8."""
    INVALID_CLOUD_EVENT = "InvalidCloudEvent"
    """The CloudEvent lacks what identifies it, or the message is none although its key is one's."""
    UNKNOWN_MESSAGE_TYPE = "UnknownMessageType"
    """No handler is declared for the message's type (its Subject)."""
    TOO_LARGE = "TooLarge"
    """The body, a document or the batch is larger than Cosmos DB takes."""
    TOO_MANY_DOCUMENTS = "TooManyDocuments"
    """More documents than one transactional batch holds."""
    REJECTED_BY_HANDLER = "RejectedByHandler"
    """The handler raised `Rejected`."""
    REQUEST_HASH_MISMATCH = "RequestHashMismatch"
    """Another content was applied under this key."""
    CONFLICT_NOT_DUPLICATE = "ConflictNotDuplicate"
    """A document of the plan exists, and this message did not write it."""
    UNVERIFIABLE_DUPLICATE = "UnverifiableDuplicate"
    """A document stands where the marker belongs, and cannot be compared with the message."""
    STORE_REJECTED = "StoreRejected"
    """Cosmos DB refused the documents themselves."""
    RETRIES_EXHAUSTED = "RetriesExhausted"
    """The store could not be used on any delivery, the last one included."""
    HANDLER_ERROR = "HandlerError"
    """The handler raised, or returned a plan that was refused, five times."""


class Rejected(Exception):
    """The message can never be applied: dead-letter it on this delivery.

    Raised by decoders and handlers. Any other exception counts as a bug and is retried.

    Args:
        detail: Becomes the dead-letter description, so it names what is wrong and
            quotes nothing of the message.
        reason: The dead-letter reason.

    Raises:
        TypeError: Either is something else; an exception's text may quote the message.
    """

    def __init__(self, detail: str = "", *, reason: Reason = Reason.REJECTED_BY_HANDLER) -> None:
        if not isinstance(detail, str) or not isinstance(reason, Reason):
            raise TypeError("Rejected takes a text and a Reason")
        super().__init__(detail)
        self.detail = detail
        self.reason = reason
