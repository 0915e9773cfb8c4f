"""The heuristic schedulers (Sec. 4 and the ASTRA-sim code) and predictions of others: one module each, one registry."""
