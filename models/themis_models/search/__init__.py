"""Local search for schedules: simulated annealing over orders, priorities and sizes around a compiled kernel."""
