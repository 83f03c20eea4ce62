"""What a failed call means: the one place that reads the SDK's exceptions.

They come in two families. `CosmosBatchOperationError` tells of an operation inside a batch
and is no `CosmosHttpResponseError`, which tells of a request as a whole. What never was
answered is an `AzureError` of another kind, or what the network raises.

Messages of the service are not passed on, for they may quote a document.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from aiohttp import ClientError
from azure.core.exceptions import (
    AzureError,
    ClientAuthenticationError,
    ServiceRequestTimeoutError,
    ServiceResponseTimeoutError,
)
from azure.cosmos.exceptions import (
    CosmosBatchOperationError,
    CosmosClientTimeoutError,
    CosmosHttpResponseError,
)

from idempotent_consumer.core.commit import Fault, FaultKind, Refused
from idempotent_consumer.core.reasons import Reason

if TYPE_CHECKING:
    from collections.abc import Mapping

    from idempotent_consumer.cosmos.advice import Advice

_UNREADABLE = (LookupError, TypeError, ValueError, AttributeError)
"""What the SDK meets in an answer that is not Cosmos DB's: it takes all below 400 for one."""

FAILURES = (AzureError, ClientError, OSError, *_UNREADABLE)
"""What a call of the SDK raises where the service failed to answer, or answered no."""

MEANINGS: Mapping[str, FaultKind | Reason] = MappingProxyType(
    {
        "400": Reason.STORE_REJECTED,
        "400/1001": FaultKind.MISCONFIGURED,  # the partition key path is another
        "400/1024": FaultKind.UNAVAILABLE,  # the container was just made anew
        "401": FaultKind.MISCONFIGURED,
        "403": FaultKind.MISCONFIGURED,
        "403/3": FaultKind.UNAVAILABLE,  # the write region is moving
        "403/1008": FaultKind.UNAVAILABLE,  # so is the account
        "403/1014": Reason.STORE_REJECTED,  # the logical partition is full
        "404/1003": FaultKind.MISCONFIGURED,  # the container is missing
        "413": Reason.TOO_LARGE,
        "429": FaultKind.THROTTLED,
    }
)
"""By status, and by status and sub-status where that says more; all else is unavailable."""


class SeveralWriteRegionsError(AzureError):
    """The account has several write regions, so that creating a document decides nothing."""

    def __init__(self) -> None:
        super().__init__("several write regions")


class ForeignAnswerError(AzureError):
    """Something between here and the service answered in its place."""

    def __init__(self) -> None:
        super().__init__("an answer that is not Cosmos DB's")


_RETRY_AFTER = "x-ms-retry-after-ms"
_FAILED_DEPENDENCY = 424
_CONTENDED = 449
_PRINCIPAL = re.compile(r"principal\s*\[([0-9a-fA-F-]{36})\]")


@dataclass(frozen=True, slots=True)
class Conflict:
    """An operation of a plan met a document, or missed one.

    Attributes:
        operation: Its number in the plan.
    """

    operation: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """What the service answered.

    Attributes:
        operation: The operation of a batch that it is about; ``None`` is the request.
        retry_after: Seconds.
    """

    status: int
    sub_status: int
    operation: int | None = None
    retry_after: float | None = None

    @property
    def code(self) -> str:
        return f"{self.status}/{self.sub_status}" if self.sub_status else str(self.status)

    @property
    def meaning(self) -> FaultKind | Reason:
        by_status = MEANINGS.get(str(self.status), FaultKind.UNAVAILABLE)
        return MEANINGS.get(self.code, by_status)


def write_failure(error: Exception, advice: Advice) -> Conflict | Refused | Fault:
    """What one of `FAILURES` says about a plan."""
    match answer := _answer(error):
        case None:
            return _unanswered(error, advice)
        case _Answer(status=409 | 412) | _Answer(status=404, operation=int()):
            return Conflict(answer.operation or 0)
        case _Answer(meaning=Reason() as reason):
            return Refused(reason, answer.code, answer.operation)
        case _:
            return _fault(answer, error, advice)


def read_failure(error: Exception, advice: Advice) -> Fault | None:
    """What one of `FAILURES` says about a point read: ``None`` is that nothing is there."""
    match answer := _answer(error):
        case None:
            return _unanswered(error, advice)
        case _Answer(code="404"):
            return None
        case _:
            return _fault(answer, error, advice)


def _answer(error: Exception) -> _Answer | None:
    match error:
        case CosmosBatchOperationError():
            return _of_operation(error.operation_responses)
        case CosmosHttpResponseError():
            return _Answer(
                status=error.status_code or 0,
                sub_status=error.sub_status or 0,
                retry_after=_seconds(error.headers.get(_RETRY_AFTER)),
            )
        case _:
            return None


def _of_operation(answers: list[dict[str, Any]]) -> _Answer:
    """The operation that failed for itself; the others failed because it did."""
    failed = {number: one for number, one in enumerate(answers) if int(one["statusCode"]) >= 400}
    culprits = (n for n, one in failed.items() if one["statusCode"] != _FAILED_DEPENDENCY)
    number = next(culprits, min(failed))
    return _Answer(
        status=failed[number]["statusCode"],
        sub_status=failed[number].get("subStatusCode", 0),
        operation=number,
        retry_after=_seconds(failed[number].get("retryAfterMilliseconds")),
    )


def _seconds(milliseconds: str | float | None) -> float | None:
    try:
        return None if milliseconds is None else float(milliseconds) / 1000
    except ValueError:
        return None


def _fault(answer: _Answer, error: Exception, advice: Advice) -> Fault:
    is_about_the_request = isinstance(answer.meaning, Reason)
    kind = FaultKind.UNAVAILABLE if isinstance(answer.meaning, Reason) else answer.meaning
    return Fault(
        kind=kind,
        cause=answer.code,
        retry_after=answer.retry_after,
        local=answer.status == _CONTENDED or is_about_the_request,
        advice=_mending(answer, error, advice) if kind is FaultKind.MISCONFIGURED else "",
    )


def _mending(answer: _Answer, error: Exception, advice: Advice) -> str:
    match answer.status:
        case 400:
            return advice.declare_path()
        case 401:
            return advice.mend_credentials()
        case 404:
            return advice.create_container()
        case _:
            named = _PRINCIPAL.search(str(error))
            return advice.grant_role(named[1] if named else None)


def _unanswered(error: Exception, advice: Advice) -> Fault:
    match error:
        case ForeignAnswerError() | LookupError() | TypeError() | ValueError() | AttributeError():
            return Fault(kind=FaultKind.UNAVAILABLE, cause="foreign answer")
        case SeveralWriteRegionsError():
            return Fault(
                kind=FaultKind.MISCONFIGURED,
                cause="several write regions",
                advice=advice.keep_one_write_region(),
            )
        case ClientAuthenticationError():
            return Fault(
                kind=FaultKind.MISCONFIGURED,
                cause="credential",
                advice=advice.mend_credentials(),
            )
        case (
            CosmosClientTimeoutError()
            | ServiceRequestTimeoutError()
            | ServiceResponseTimeoutError()
            | TimeoutError()
        ):
            return Fault(kind=FaultKind.UNAVAILABLE, cause="timeout")
        case _:
            return Fault(kind=FaultKind.UNAVAILABLE, cause="connection")
