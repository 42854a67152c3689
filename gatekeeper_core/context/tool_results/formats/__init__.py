"""The formats of tool results, one module each, and their registry."""
