"""Solvers and bounds: the contract with plug-ins, and running them so that time limits and Ctrl-C hold."""
