"""Token prices, and the effect of a provider's prompt cache."""
