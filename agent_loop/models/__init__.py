"""Model adapters; the only room that imports model clients."""
