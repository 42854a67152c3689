"""Benchmarks of Context Gatekeeper beside named peers; ``python -m benchmarks.NAME`` runs one, the wheel holds none."""
