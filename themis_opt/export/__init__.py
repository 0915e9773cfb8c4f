"""Schedules for the programs of others, and the judges of what was written: writers and judges share nothing."""
