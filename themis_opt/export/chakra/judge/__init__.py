"""The judge of folders of execution traces: it runs them on symbols and knows nothing of what wrote them."""
