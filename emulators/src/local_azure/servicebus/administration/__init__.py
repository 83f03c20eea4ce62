"""The management API, in Atom XML over HTTP: entities, rules and counts of messages.

`api` finds what a request is about and answers it; `atom` is the envelope; `descriptions` and
`rules` are what lies in it.
"""

from __future__ import annotations

from local_azure.servicebus.administration.api import Administration

__all__ = ["Administration"]
