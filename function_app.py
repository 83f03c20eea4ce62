"""The shop as an Azure Functions app; the host loads this file."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "src"))

import azure.functions as func

from idempotent_consumer import queue_trigger
from shop.app import orders

app = func.FunctionApp()
app.register_functions(queue_trigger(orders, queue_name="%ORDERS_QUEUE%"))
