"""The heuristic schedulers (Sec. 4 and the ASTRA-sim code): one module each, one registry."""
