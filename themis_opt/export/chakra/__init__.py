"""MLCommons Chakra's execution traces, as ASTRA-sim 2 replays them: one side writes them, the other judges them."""
