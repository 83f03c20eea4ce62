"""The ``$management`` node of an entity: requests and answers beside the flow of messages."""
