"""The whole problem in CP-SAT: orders as paths in the order lattice, stages as intervals."""
