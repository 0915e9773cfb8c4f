"""The joint problem as a MILP, for small sizes: an independent check of the CP-SAT model."""
