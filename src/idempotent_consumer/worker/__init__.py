"""The stand-alone host: receives from a queue, in a process of its own."""
