"""The query language: text to syntax tree, syntax tree and documents to results."""
