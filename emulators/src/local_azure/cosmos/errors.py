"""Every way in which an operation is refused, in the service's own words."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from local_azure.faults import Fail


class CosmosError(Exception):
    """An operation that ends with an error status.

    Args:
        status: The HTTP status.
        message: The text for the caller; it never quotes a document.
        sub_status: ``x-ms-substatus``, which tells apart errors of one status.
        retry_after: Seconds that the answer asks the client to wait.
    """

    def __init__(
        self, status: int, message: str, *, sub_status: int = 0, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.sub_status = sub_status
        self.retry_after = retry_after

    @property
    def code(self) -> str:
        """The service's word for the status, such as ``NotFound``."""
        return _CODES.get(self.status, str(self.status))


_CODES: Final = MappingProxyType(
    {
        304: "NotModified",
        400: "BadRequest",
        401: "Unauthorized",
        403: "Forbidden",
        404: "NotFound",
        408: "RequestTimeout",
        409: "Conflict",
        410: "Gone",
        412: "PreconditionFailed",
        413: "RequestEntityTooLarge",
        429: "TooManyRequests",
        449: "RetryWith",
        500: "InternalServerError",
        501: "NotImplemented",
        503: "ServiceUnavailable",
    }
)

_TEXTS: Final = MappingProxyType(
    {
        401: "The input authorization token can't serve the request.",
        403: (
            "Request blocked by Auth: Request is blocked because the principal does not have the "
            "required RBAC permissions to perform this action. "
            "Learn more: https://aka.ms/cosmos-native-rbac."
        ),
        408: "Request timed out. More info: https://aka.ms/cosmosdb-tsg-request-timeout",
        410: "The requested resource is no longer available at the server.",
        429: (
            "Request rate is large. More Request Units may be needed, so no changes were made. "
            "Please retry this request later. Learn more: http://aka.ms/cosmosdb-error-429"
        ),
        449: "Conflicting request to resource has been attempted. Retry to avoid conflicts.",
        500: "Unknown server error occurred when processing this request.",
        503: "Service is currently unavailable. More info: https://aka.ms/cosmosdb-tsg-503",
    }
)


def milliseconds(seconds: float) -> int:
    """A wait as clients are told of it."""
    return round(seconds * 1000)


def ordered_failure(fail: Fail) -> CosmosError:
    """The error that a fault asks for."""
    if isinstance(fail.code, str):
        return CosmosError(500, "A fault asks for an AMQP condition instead of an HTTP status.")
    return CosmosError(
        fail.code,
        _TEXTS.get(fail.code, "The request failed."),
        sub_status=fail.sub_status,
        retry_after=fail.retry_after,
    )


def bad_request(message: str, *, sub_status: int = 0) -> CosmosError:
    """400, with a text of its own."""
    return CosmosError(400, message, sub_status=sub_status)


def nested_too_deeply() -> CosmosError:
    """400: a query, or a patch's condition, with more levels than can be followed."""
    return bad_request("The query nests too deeply.")


def wrong_signature(payload: str) -> CosmosError:
    """401, with what the signature should have covered."""
    return CosmosError(
        401,
        f"{_TEXTS[401]} The wrong key is being used or the expected payload is not built as per "
        "the protocol. For more info: https://aka.ms/cosmosdb-tsg-unauthorized. "
        f"Server used the following payload to sign: {payload!r}",
    )


def token_not_accepted() -> CosmosError:
    """401, for anything but a signature or a token."""
    return CosmosError(
        401, "Required Header authorization is missing, or of neither 'type=master' nor 'type=aad'."
    )


def not_for_tokens(request: str) -> CosmosError:
    """403, sub-status 5300: only the account's key may do this."""
    return CosmosError(
        403,
        f"Request blocked by Auth: The given request [{request}] cannot be authorized by AAD token "
        "in data plane. Learn more: https://aka.ms/cosmos-native-rbac.",
        sub_status=5300,
    )


def partition_key_required() -> CosmosError:
    """400, for an item operation without its partition key."""
    return bad_request("PartitionKey value must be supplied for this operation.")


def partition_key_misshapen() -> CosmosError:
    """400, sub-status 1001: the key has not the form that the container's definition asks for."""
    return bad_request(
        "Partition key provided either doesn't correspond to definition in the collection or "
        "doesn't match partition key field values specified in the document.",
        sub_status=1001,
    )


def partition_key_mismatch() -> CosmosError:
    """400, sub-status 1001: the document belongs to another partition."""
    return bad_request(
        "PartitionKey extracted from document doesn't match the one specified in the header. "
        "Learn more: https://aka.ms/CosmosDB/sql/errors/wrong-pk-value",
        sub_status=1001,
    )


def container_recreated() -> CosmosError:
    """400, sub-status 1024: the client means an earlier container of this name."""
    return bad_request(
        "The intended collection rid does not match the one of the container.", sub_status=1024
    )


def not_found() -> CosmosError:
    """404: the item, or a database or container asked for itself."""
    return CosmosError(
        404,
        "Entity with the specified id does not exist in the system. "
        "More info: https://aka.ms/cosmosdb-tsg-not-found",
    )


def owner_not_found() -> CosmosError:
    """404, sub-status 1003: the database or container that an operation goes to."""
    return CosmosError(404, "Message: Owner resource does not exist", sub_status=1003)


def conflict() -> CosmosError:
    """409: the id is taken."""
    return CosmosError(
        409,
        "Entity with the specified id already exists in the system. "
        "More info: https://aka.ms/cosmosdb-tsg-conflict",
    )


def unique_key_conflict() -> CosmosError:
    """409: a unique key is taken."""
    return CosmosError(409, "Unique index constraint violation.")


def precondition_failed() -> CosmosError:
    """412: the ETag is not the one the client expects."""
    return CosmosError(
        412,
        "Operation cannot be performed because one of the specified precondition is not met. "
        "Learn more: https://aka.ms/CosmosDB/sql/errors/precondition-failed",
    )


def not_modified() -> CosmosError:
    """304: the client has this version already."""
    return CosmosError(304, "")


def range_gone() -> CosmosError:
    """410, sub-status 1002: the range that the request names is not there (any more)."""
    return CosmosError(410, _TEXTS[410], sub_status=1002)


def session_not_available() -> CosmosError:
    """404, sub-status 1002: the client has seen more than this replica."""
    return CosmosError(
        404, "The read session is not available for the input session token.", sub_status=1002
    )


def too_large() -> CosmosError:
    """413: over the limit of a request."""
    return CosmosError(413, "Request size is too large")


def answer_too_large() -> CosmosError:
    """413, sub-status 3402: over the limit of a response."""
    return CosmosError(413, "Response size is too large", sub_status=3402)


def unforeseen() -> CosmosError:
    """500: a bug of the emulator, or of a condition that a fault was given in Python."""
    return CosmosError(500, _TEXTS[500])


def not_emulated(what: str) -> CosmosError:
    """501: the service can do it, this emulator cannot yet."""
    return CosmosError(501, f"Not emulated: {what}")
