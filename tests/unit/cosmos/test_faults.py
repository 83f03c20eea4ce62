"""Every answer of the service, and every silence, means one thing."""

from __future__ import annotations

from dataclasses import replace

import aiohttp
import pytest
from azure.core.exceptions import (
    ClientAuthenticationError,
    DecodeError,
    ServiceRequestError,
    ServiceRequestTimeoutError,
    ServiceResponseError,
    ServiceResponseTimeoutError,
)
from azure.cosmos.exceptions import CosmosClientTimeoutError

from idempotent_consumer.core.commit import Fault, FaultKind, Refused
from idempotent_consumer.core.consumer import Container
from idempotent_consumer.core.reasons import Reason
from idempotent_consumer.cosmos.advice import Advice
from idempotent_consumer.cosmos.faults import FAILURES, Conflict, read_failure, write_failure
from tests.unit.cosmos.errors import SECRET, answered, in_batch, operation

ADVICE = Advice("https://shop.documents.azure.com:443/", Container("shop/orders", "/orderId"))

# status, sub-status, what it says about a write
REFUSED = [
    (400, 0, Reason.STORE_REJECTED),
    (403, 1014, Reason.STORE_REJECTED),
    (413, 0, Reason.TOO_LARGE),
]
FAULTS = [
    (400, 1001, FaultKind.MISCONFIGURED),
    (400, 1024, FaultKind.UNAVAILABLE),
    (401, 0, FaultKind.MISCONFIGURED),
    (403, 0, FaultKind.MISCONFIGURED),
    (403, 3, FaultKind.UNAVAILABLE),
    (403, 1008, FaultKind.UNAVAILABLE),
    (403, 5300, FaultKind.MISCONFIGURED),
    (404, 0, FaultKind.UNAVAILABLE),
    (404, 1002, FaultKind.UNAVAILABLE),
    (404, 1003, FaultKind.MISCONFIGURED),
    (408, 0, FaultKind.UNAVAILABLE),
    (410, 0, FaultKind.UNAVAILABLE),
    (410, 1002, FaultKind.UNAVAILABLE),
    (429, 0, FaultKind.THROTTLED),
    (429, 3200, FaultKind.THROTTLED),
    (449, 0, FaultKind.UNAVAILABLE),
    (500, 0, FaultKind.UNAVAILABLE),
    (503, 0, FaultKind.UNAVAILABLE),
]
ONLY_A_REQUEST = {(404, 0), (404, 1002), (404, 1003)}
SILENCES = [
    (CosmosClientTimeoutError(), "timeout"),  # type: ignore[no-untyped-call]
    (ServiceRequestTimeoutError("connect"), "timeout"),
    (ServiceResponseTimeoutError("read"), "timeout"),
    (TimeoutError(), "timeout"),
    (ServiceRequestError("cut"), "connection"),
    (ServiceResponseError("cut"), "connection"),
    (DecodeError("no JSON"), "connection"),
    (aiohttp.ServerDisconnectedError(), "connection"),
    (ConnectionResetError(), "connection"),
]


def cause(status: int, sub_status: int) -> str:
    return f"{status}/{sub_status}" if sub_status else f"{status}"


@pytest.mark.parametrize(("status", "sub_status", "reason"), REFUSED)
def test_documents_are_refused(status: int, sub_status: int, reason: Reason) -> None:
    refused = Refused(reason, cause(status, sub_status))
    assert write_failure(answered(status, sub_status), ADVICE) == refused
    one_of_them = in_batch(operation(424), operation(status, sub_status))
    assert write_failure(one_of_them, ADVICE) == replace(refused, operation=1)


@pytest.mark.case("AMB-10")
@pytest.mark.parametrize(("status", "sub_status", "kind"), FAULTS)
def test_a_request_meets_a_fault(status: int, sub_status: int, kind: FaultKind) -> None:
    fault = write_failure(answered(status, sub_status), ADVICE)
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.cause) == (kind, cause(status, sub_status))
    assert fault.local == (status == 449)
    assert bool(fault.advice) == (kind is FaultKind.MISCONFIGURED)


@pytest.mark.parametrize(
    ("status", "sub_status", "kind"), [row for row in FAULTS if row[:2] not in ONLY_A_REQUEST]
)
def test_an_operation_of_a_batch_meets_a_fault(
    status: int, sub_status: int, kind: FaultKind
) -> None:
    fault = write_failure(in_batch(operation(424), operation(status, sub_status)), ADVICE)
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.cause) == (kind, cause(status, sub_status))
    assert fault.local == (status == 449)


@pytest.mark.parametrize("status", [409, 412])
def test_a_request_meets_a_document(status: int) -> None:
    assert write_failure(answered(status), ADVICE) == Conflict(0)


@pytest.mark.parametrize("status", [404, 409, 412])
@pytest.mark.parametrize("blamed", [0, 1, 2])
def test_the_operation_that_failed_for_itself_is_blamed(status: int, blamed: int) -> None:
    answers = [operation(status if number == blamed else 424) for number in range(3)]
    assert write_failure(in_batch(*answers), ADVICE) == Conflict(blamed)


def test_the_first_operation_that_failed_is_blamed() -> None:
    error = in_batch(operation(424), operation(409), operation(409))
    assert write_failure(error, ADVICE) == Conflict(1)


@pytest.mark.parametrize(
    "error",
    [
        answered(429, x_ms_retry_after_ms="1500"),
        in_batch(operation(429, retryAfterMilliseconds=1500), operation(424)),
    ],
    ids=["request", "batch"],
)
def test_the_service_says_when_to_come_back(error: Exception) -> None:
    fault = Fault(kind=FaultKind.THROTTLED, cause="429", retry_after=1.5)
    assert write_failure(error, ADVICE) == fault


@pytest.mark.case("AMB-05")
@pytest.mark.parametrize(("error", "cause"), SILENCES)
def test_silence_is_unavailable(error: Exception, cause: str) -> None:
    fault = Fault(kind=FaultKind.UNAVAILABLE, cause=cause)
    assert isinstance(error, FAILURES)
    assert write_failure(error, ADVICE) == fault
    assert read_failure(error, ADVICE) == fault


def test_no_token_to_be_had_is_misconfigured() -> None:
    fault = write_failure(ClientAuthenticationError("no identity"), ADVICE)
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.cause) == (FaultKind.MISCONFIGURED, "credential")
    assert fault.advice == ADVICE.mend_credentials()


def test_a_read_that_finds_nothing_meets_no_fault() -> None:
    assert read_failure(answered(404), ADVICE) is None


@pytest.mark.parametrize(
    ("status", "sub_status", "kind"), [row for row in FAULTS if row[:2] != (404, 0)]
)
def test_a_read_meets_a_fault(status: int, sub_status: int, kind: FaultKind) -> None:
    fault = read_failure(answered(status, sub_status), ADVICE)
    assert fault is not None
    assert (fault.kind, fault.cause) == (kind, cause(status, sub_status))


def test_a_read_has_no_documents_to_be_refused() -> None:
    """But such an answer is about this request, and no outage."""
    fault = Fault(kind=FaultKind.UNAVAILABLE, cause="400", local=True)
    assert read_failure(answered(400), ADVICE) == fault


@pytest.mark.parametrize(("status", "sub_status"), [row[:2] for row in (*REFUSED, *FAULTS)])
def test_what_the_service_quotes_goes_no_further(status: int, sub_status: int) -> None:
    assert SECRET not in repr(write_failure(answered(status, sub_status), ADVICE))
    assert SECRET not in repr(write_failure(in_batch(operation(status, sub_status)), ADVICE))
