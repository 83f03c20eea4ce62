"""The SDK's exceptions as its client raises them."""

from __future__ import annotations

from typing import Any

from azure.cosmos.exceptions import (
    CosmosBatchOperationError,
    CosmosHttpResponseError,
    CosmosResourceExistsError,
    CosmosResourceNotFoundError,
)

SECRET = "4111-1111"
"""Of a document that the service quotes in its message."""

_CLASSES: dict[int, Any] = {404: CosmosResourceNotFoundError, 409: CosmosResourceExistsError}


def answered(
    status: int, sub_status: int = 0, message: str = f"card {SECRET}", **headers: str
) -> CosmosHttpResponseError:
    """A request that was answered."""
    kind = _CLASSES.get(status, CosmosHttpResponseError)
    error: CosmosHttpResponseError = kind(
        status_code=status, sub_status=sub_status, message=message
    )
    error.headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return error


def in_batch(*operations: dict[str, Any]) -> CosmosBatchOperationError:
    """A batch that was answered, operation by operation."""
    return CosmosBatchOperationError(  # type: ignore[no-untyped-call]
        error_index=len(operations) - 1,
        headers={},
        status_code=operations[-1]["statusCode"],
        message=f"card {SECRET}",
        operation_responses=list(operations),
    )


def operation(status: int, sub_status: int = 0, **more: Any) -> dict[str, Any]:
    """The answer about one operation of a batch."""
    return {"statusCode": status, "subStatusCode": sub_status, **more}
