"""The one place that joins settings, store, engine and host."""
