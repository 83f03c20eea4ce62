"""The one name that the tests of azure-cosmos import from this module."""

from __future__ import annotations

import os


def get_credential(**_: object) -> str:
    """The account's key, which clients take where they take a token credential."""
    return os.environ["ACCOUNT_KEY"]
