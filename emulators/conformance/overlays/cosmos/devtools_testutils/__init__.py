"""Stands for the package of the same name in Microsoft's repository, which no index has."""
