"""Which bandwidth where, within a budget."""
