"""ASSEMBLE: what the model will read, made of whole messages, within a budget."""
