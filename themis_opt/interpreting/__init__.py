"""Judges of what was written for others: interpreters that run a file on symbols, and know nothing of its writer."""

from themis_opt.interpreting.verdict import Finding, Verdict

__all__ = ["Finding", "Verdict"]
