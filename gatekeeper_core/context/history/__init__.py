"""Which messages of a conversation are sent."""
