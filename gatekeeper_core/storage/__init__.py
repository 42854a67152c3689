"""KEEP: the protocols of stores for the data of a conversation, and the stores that implement them."""
