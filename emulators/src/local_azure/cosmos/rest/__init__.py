"""The REST API in front of the store: requests, their routes, and answers in pages."""
