"""The example: a shop that takes orders from a queue."""
