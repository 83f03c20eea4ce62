"""``python -m idempotent_consumer.cli``: for where no script is installed."""

from __future__ import annotations

from idempotent_consumer.cli import main

main()
