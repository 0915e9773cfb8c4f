"""Design-space studies: many points, one table, resumable."""
