"""The independent judge of schedules: whether they are complete and free of deadlock, and what they claim is true.

It shares no timing code with the simulator: of the rest of the package it uses the data types, the cost of a stage, and
the exact bounds that need no solver. Times come from its own longest paths over the precedence graph.
"""

from themis_opt.validation.judge import check, validate
from themis_opt.validation.violation import Violation, ViolationKind

__all__ = ["Violation", "ViolationKind", "check", "validate"]
