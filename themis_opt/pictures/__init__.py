"""Pictures of schedules and studies, drawn with matplotlib (extra `plot`)."""
