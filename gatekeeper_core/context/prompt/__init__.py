"""The prompt of one call: what goes into it, in which form, within which budget."""
