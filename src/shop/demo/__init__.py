"""The demo: a story played on both emulators with a real worker, and checked."""
