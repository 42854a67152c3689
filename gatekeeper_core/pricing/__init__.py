"""What tokens cost, and what a provider's prompt cache makes of a prompt."""
