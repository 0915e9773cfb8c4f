"""The independent judges of schedules: whether they are complete and free of deadlock, and what they claim is true.

The validator shares no timing code with the simulator: of the rest of the package it uses the data types, the cost of a
stage, and the exact bounds that need no solver. Times come from its own longest paths over the precedence graph.
"""
