"""Which messages of a conversation are sent, how a long run shrinks, and what the provider has cached."""
