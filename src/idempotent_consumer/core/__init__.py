"""What is decided about a message, as values and tables: no I/O, clock, chance or logging."""
