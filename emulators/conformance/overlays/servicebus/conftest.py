"""Stands for the conftest.py of the tests, which prepares recordings; here are none."""
