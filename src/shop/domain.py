"""Orders: what the shop is about, without a word on messages or databases."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Name = Annotated[str, StringConstraints(min_length=1, max_length=100)]
Currency = Annotated[str, StringConstraints(pattern="^[A-Z]{3}$")]


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Line(_Value):
    """So many of one article."""

    sku: Name
    quantity: Annotated[int, Field(ge=1, le=10_000)]
    unit_price: Annotated[Decimal, Field(alias="unitPrice", ge=0, max_digits=12)]


class Order(_Value):
    """What a customer ordered."""

    order_id: Name = Field(alias="orderId")
    customer_id: Name = Field(alias="customerId")
    currency: Currency
    lines: Annotated[tuple[Line, ...], Field(min_length=1)]

    @property
    def total(self) -> Decimal:
        """The sum of its lines."""
        return sum((line.quantity * line.unit_price for line in self.lines), Decimal())

    def document(self) -> dict[str, Any]:
        """The order as it is stored; money is text, since JSON numbers are no money."""
        return {
            "type": "order",
            "schemaVersion": 1,
            "orderId": self.order_id,
            "customerId": self.customer_id,
            "currency": self.currency,
            "total": str(self.total),
            "status": "placed",
        }

    def line_documents(self) -> list[dict[str, Any]]:
        """Its lines as they are stored, each by its number."""
        return [
            {
                "id": f"{self.order_id}/{number}",
                "type": "orderLine",
                "schemaVersion": 1,
                "orderId": self.order_id,
                "sku": line.sku,
                "quantity": line.quantity,
                "unitPrice": str(line.unit_price),
            }
            for number, line in enumerate(self.lines, start=1)
        ]
