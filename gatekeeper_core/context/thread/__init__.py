"""A thread: its messages, its constraints, and what a store keeps of both."""
