"""What people ask of schedules and networks: which is best, why, which chunks, which bandwidth where, when it pays."""
