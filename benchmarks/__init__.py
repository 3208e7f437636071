"""Benchmarks of tms: `python -m benchmarks`."""
