"""The prompt of one call: its parts, form and budget."""
