"""Which chunks and which scheduler for which message size."""
