"""Message lists in the providers' own formats: read as messages, given back as they came."""
