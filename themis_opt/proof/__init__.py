"""Lower bounds that anyone can check again without a solver: the order lattice, certificates, the critical path."""
