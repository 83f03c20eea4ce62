"""Drives the core through a few small ports; knows no SDK, no host and no store."""
