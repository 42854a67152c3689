"""Benchmarks of Context Gatekeeper beside named peers. Run one with ``python -m benchmarks.NAME``; not part of the wheel."""
