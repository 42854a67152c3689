"""KEEP: the contracts of what holds data for a conversation, and the stores that fulfil them."""
