"""The portfolio: local search for equal chunks, search and sizing in turns for free ones, and the number of chunks."""
