"""Context Gatekeeper: the smallest set of earlier turns that a model needs, within a token budget."""
