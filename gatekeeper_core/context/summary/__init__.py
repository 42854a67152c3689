"""The running summary of a thread."""
