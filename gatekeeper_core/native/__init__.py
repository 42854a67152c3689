"""Message lists in the providers' own formats: read as messages, returned in the original form."""
