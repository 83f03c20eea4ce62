"""The report for people: what happened, what is stored, what is dead-lettered, what to try."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeVar

from rich import box
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import Console

    from shop.demo.facts import DeadLetter, Delivery, Facts, Report, Row

Value = TypeVar("Value")

OUTCOME_STYLES = {
    "applied": "green",
    "duplicate": "cyan",
    "mismatch": "magenta",
    "rejected": "yellow",
}

_DROPPED = ("dropped by broker",)

NEXT = """
Next, each in a shell of its own:

  .venv/bin/local-azure --service-bus infra/local/Config.json --cosmos infra/local/cosmos.json

  .venv/bin/idempotent-consumer worker --queue orders --settings local.settings.sample.json

  .venv/bin/idempotent-consumer send --queue orders --settings local.settings.sample.json \\
    --message-id A-1 '{"orderId": "A-1", "customerId": "C-1", "currency": "EUR",
      "lines": [{"sku": "mug", "quantity": 1, "unitPrice": "8.50"}]}'
"""


def show(report: Report, console: Console) -> None:
    """Prints the report."""
    for part in (_story(report.rows), _stored(report.stored), _dead_letters(report.dead_letters)):
        console.print(part, "", sep="\n")
    for problem in report.problems:
        console.print(Text(f"WRONG  {problem}", style="bold red"))
    console.print(_verdict(report), Text(NEXT), sep="\n")


def _verdict(report: Report) -> Text:
    right = sum(row.is_right for row in report.rows)
    text = f"{right} of {len(report.rows)} rows are right, after {report.seconds:.1f} s"
    return Text(text, style="bold red" if report.problems else "bold green")


def _table(title: str, *, leading: int = 0) -> Table:
    return Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        show_edge=False,
        leading=leading,
    )


def _story(rows: Iterable[Row]) -> Table:
    table = _table("What happened to each message", leading=1)
    table.add_column()
    table.add_column("deliv.", justify="right")
    for header in ("outcome", "cause", "settlement"):
        table.add_column(header)
    table.add_column("docs", justify="right")
    table.add_column("store calls")
    for row in rows:
        table.add_row(row.title, *_cells(row.actual), style="bold red" if row.differences else "")
    return table


def _cells(facts: Facts) -> Iterator[str | Text]:
    """The cells beside the title; in each, what belongs to one delivery is in one line."""
    runs = list(_runs(facts.deliveries))
    yield str(len(facts.deliveries))
    yield _stacked(_outcome(delivery, times) for delivery, times in runs)
    yield _stacked(Text(delivery.cause) for delivery, _ in runs)
    yield _stacked(map(Text, [*(_settlement(one) for one, _ in runs), *_DROPPED * facts.dropped]))
    yield str(facts.documents)
    yield _stacked(Text(_numbered(call, times)) for call, times in _runs(facts.store_calls))


def _stacked(lines: Iterable[Text]) -> Text:
    return Text("\n").join(lines)


def _outcome(delivery: Delivery, times: int) -> Text:
    style = OUTCOME_STYLES.get(delivery.outcome, "")
    return Text(_numbered(delivery.outcome or "-", times), style=style)


def _settlement(delivery: Delivery) -> str:
    """With the dead-letter reason below it: a delivery that has one is the last."""
    return "\n".join(filter(None, (delivery.settlement, delivery.reason)))


def _runs(values: Iterable[Value]) -> Iterator[tuple[Value, int]]:
    """Each value once for all the times that it stands there in a row, with their number."""
    for value, run in groupby(values):
        yield value, len(list(run))


def _numbered(text: str, times: int) -> str:
    return text if times == 1 else f"{text} x{times}"


def _stored(documents: Iterable[dict[str, Any]]) -> Table:
    """The orders, each with the number of its lines."""
    table = _table("What is stored in shop/orders")
    for header in ("order", "total", "status", "lines", "marker: consumer", "request hash"):
        table.add_column(header, justify="right" if header in {"total", "lines"} else "left")
    by_order = sorted(documents, key=_order_id)
    for order_id, group in groupby(by_order, key=_order_id):
        together = list(group)
        (order,) = (document for document in together if document["type"] == "order")
        marker = order["idempotency"]
        table.add_row(
            order_id,
            f"{order['total']} {order['currency']}",
            order["status"],
            str(len(together) - 1),
            marker["consumer"],
            marker["hash"]["digest"][:12],
        )
    return table


def _order_id(document: dict[str, Any]) -> str:
    return str(document["orderId"])


def _dead_letters(letters: Iterable[DeadLetter]) -> Table:
    table = _table("What is in the dead-letter queue")
    for header in ("MessageId", "reason", "description"):
        table.add_column(header)
    for letter in letters:
        table.add_row(letter.message_id or "-", letter.reason, letter.description)
    return table
