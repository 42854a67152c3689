"""Long-term memory: what is remembered of a user across threads."""
