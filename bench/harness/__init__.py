"""The benchmark harness: rows of a table, each engine in a process of its own, answers checked, records written."""
