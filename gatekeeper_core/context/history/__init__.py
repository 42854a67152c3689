"""The messages of a conversation that are sent: selection, long runs made shorter, the provider's cache."""
