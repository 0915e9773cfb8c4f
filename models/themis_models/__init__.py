"""The formulations: fluid LP, assignment MILP, joint CP-SAT and MILP, as plug-ins of themis_opt."""
