"""Lists, queries and the change feed: many documents in pages."""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

from local_azure.cosmos import strict_json
from local_azure.cosmos.errors import CosmosError, bad_request, not_emulated, range_gone
from local_azure.cosmos.rest import wire
from local_azure.cosmos.rest.charges import feed_charge
from local_azure.cosmos.rest.items import addressed_container
from local_azure.cosmos.rest.paging import (
    MAX_RESPONSE_BYTES,
    Tokens,
    cut_page,
    origin_of,
    page_size,
)
from local_azure.cosmos.rest.queries import check_query, read_query
from local_azure.cosmos.rest.sessions import PARTITION_KEY_RANGE
from local_azure.cosmos.rest.wire import Response
from local_azure.cosmos.sql.execution import execute
from local_azure.cosmos.sql.narrowing import possible_values
from local_azure.cosmos.sql.parser import parse_query
from local_azure.cosmos.sql.values import sort_key
from local_azure.cosmos.store.effective_partition_keys import (
    checked_interval,
    effective_partition_key,
)
from local_azure.cosmos.store.partition_keys import partition_key_of_header, partition_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from local_azure.cosmos.rest.call import Call
    from local_azure.cosmos.rest.wire import Request
    from local_azure.cosmos.sql.syntax import Select
    from local_azure.cosmos.store.account import Account
    from local_azure.cosmos.store.containers import Container
    from local_azure.cosmos.store.documents import Stored

_ID: Final = ("id",)
_EVERYTHING: Final = parse_query("SELECT * FROM c", {})
_LATEST_VERSIONS: Final = "incremental feed"
_FROM_NOW_ON: Final = "*"


class Feeds:
    """Carries out operations that answer with many documents.

    Args:
        account: Where the containers are.
        now: Seconds since the epoch.
    """

    def __init__(self, account: Account, now: Callable[[], float]) -> None:
        self._account = account
        self._now = now
        self._tokens = Tokens()

    def list(self, call: Call) -> Response:
        """``GET docs``."""
        return self._page(call, addressed_container(self._account, call), _EVERYTHING)

    def query(self, call: Call) -> Response:
        """``POST docs``, marked as query."""
        container = addressed_container(self._account, call)
        select = read_query(call.payload)
        check_query(select, call.request, container.properties)
        return self._page(call, container, select)

    def change_feed(self, call: Call) -> Response:
        """``GET docs`` with ``A-IM``: what has changed since an ETag, in order of change."""
        request, container = call.request, addressed_container(self._account, call)
        if request.headers[wire.CHANGE_FEED].lower() != _LATEST_VERSIONS:
            raise not_emulated("the change feed of all versions and deletes")
        changes = container.changes(_since(request, container), self._now())
        changed = _written_since(request, _of_partition(request, container, changes))
        page = _whole_transactions(changed, page_size(request))
        etag = f'"{page[-1].lsn if page else container.lsn}"'
        if not page:
            return Response(status=304, headers={wire.ETAG: etag})
        shown = [strict_json.encode(found.document | {"_lsn": found.lsn}) for found in page]
        return _documents(container, shown, {wire.ETAG: etag})

    def _page(self, call: Call, container: Container, select: Select) -> Response:
        request = call.request
        origin = origin_of(request, container.rid)
        after = self._tokens.position_of(request.headers.get(wire.CONTINUATION), origin)
        found = _narrowed(self._selected(call, container), select)
        documents = ((each.sequence, each.document) for each in found)
        results = execute(select, documents, now=self._now(), after=after)
        page = cut_page(results, page_size(request))
        headers = {}
        if page.end is not None:
            headers[wire.CONTINUATION] = self._tokens.token_of(page.end, origin)
        if request.says(wire.POPULATE_QUERY_METRICS):
            headers[wire.QUERY_METRICS] = _metrics(found, page.items)
        return _documents(container, page.items, headers)

    def _selected(self, call: Call, container: Container) -> Sequence[Stored]:
        header = call.request.headers.get(wire.PARTITION_KEY)
        if header is None:
            return _within(call.request, container, container.documents(self._now()))
        key = partition_key_of_header(header, container.properties)
        return container.partition(key, self._now())


def _of_partition(
    request: Request, container: Container, found: Sequence[Stored]
) -> Sequence[Stored]:
    """Those of the partition, or else of the interval, that a request names."""
    header, properties = request.headers.get(wire.PARTITION_KEY), container.properties
    if header is None:
        return _within(request, container, found)
    wanted = partition_of(partition_key_of_header(header, properties), properties)
    return [each for each in found if partition_of(each.key, properties) == wanted]


def _within(request: Request, container: Container, found: Sequence[Stored]) -> Sequence[Stored]:
    """Those in the range and interval that a request names."""
    headers = request.headers
    if headers.get(wire.PARTITION_KEY_RANGE_ID, PARTITION_KEY_RANGE) != PARTITION_KEY_RANGE:
        raise range_gone()
    if wire.START_EPK not in headers:
        return found
    start, end = checked_interval(headers[wire.START_EPK], headers.get(wire.END_EPK, "FF"))
    version = container.properties.hash_version
    places = ((effective_partition_key(each.key, version), each) for each in found)
    return [each for place, each in places if start <= place < end or place == start == end]


def _narrowed(found: Sequence[Stored], select: Select) -> Sequence[Stored]:
    """Those whose id the query does not rule out at once."""
    ids = possible_values(_ID, select)
    if ids is None:
        return found
    return [each for each in found if sort_key(each.document["id"]) in ids]


def _metrics(read: Sequence[Stored], given: Sequence[bytes]) -> str:
    """What the query read and gave; it takes no time worth telling."""
    metrics = {
        "totalExecutionTimeInMs": 0.0,
        "retrievedDocumentCount": len(read),
        "retrievedDocumentSize": sum(len(each.encoded) for each in read),
        "outputDocumentCount": len(given),
        "outputDocumentSize": sum(map(len, given)),
    }
    return ";".join(f"{name}={value}" for name, value in metrics.items())


def _since(request: Request, container: Container) -> int:
    """The log sequence number that the client has seen."""
    etag = request.headers.get(wire.IF_NONE_MATCH)
    if etag is None:
        return 0
    if etag == _FROM_NOW_ON:
        return container.lsn
    number = etag.strip('"')
    if not number.isdecimal() or len(number) > 18:
        raise bad_request("The ETag is not one of this change feed.")
    return int(number)


def _written_since(request: Request, found: Sequence[Stored]) -> Sequence[Stored]:
    date = request.headers.get(wire.IF_MODIFIED_SINCE)
    if date is None:
        return found
    try:
        start = parsedate_to_datetime(date).timestamp()
    except (ValueError, OverflowError) as error:
        raise _not_a_date() from error
    if not date.endswith(" GMT"):
        raise _not_a_date()
    return [each for each in found if each.document["_ts"] >= start]


def _not_a_date() -> CosmosError:
    return bad_request("The date in If-Modified-Since is not an HTTP date.")


def _whole_transactions(found: Sequence[Stored], items: int) -> Sequence[Stored]:
    """As many as are wanted and fit into a response, but whole transactions, and one at least."""
    page: list[Stored] = []
    size = 0
    for _, together in groupby(found, key=attrgetter("lsn")):
        written = [*together]
        size += sum(len(each.encoded) for each in written)
        if page and (len(page) >= items or size > MAX_RESPONSE_BYTES):
            break
        page += written
    return page


def _documents(container: Container, items: Iterable[bytes], headers: dict[str, Any]) -> Response:
    shown = [*items]
    count, size = len(shown), sum(map(len, shown))
    common = {wire.ITEM_COUNT: str(count), wire.REQUEST_CHARGE: str(feed_charge(size))}
    body = b'{"_rid":"%s","Documents":[%s],"_count":%d}'
    return Response(
        status=200,
        headers=common | headers,
        body=body % (container.rid.encode(), b",".join(shown), count),
    )
