"""A schedule as a folder of execution traces that ASTRA-sim 2 replays message by message."""
