"""The worker that uses tools: many model calls, one container."""
