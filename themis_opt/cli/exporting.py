"""What the targets of ``themis-opt export`` have in common: only schedules that break no rule leave the house."""

from __future__ import annotations

from themis_opt.cli.options import read_argument
from themis_opt.cli.violations import violation_line
from themis_opt.problem.errors import InputError, InvalidScheduleError
from themis_opt.problem.schedule import Schedule

_MAX_SHOWN = 4


def read_valid_schedule(path: str) -> Schedule:
    """Return the schedule in a file, judged.

    Raises
    ------
    InputError
        When there is no such file, or it is no schedule.
    InvalidScheduleError
        When the schedule breaks a rule, never ends or claims something false.
    """
    thing = read_argument(path)
    if not isinstance(thing, Schedule):
        raise InputError(
            f"{path}: is no schedule but an instance or a network; make a schedule of it first: "
            f"themis-opt solve {path} -o best.json"
        )
    require_valid(path, thing)
    return thing


def require_valid(path: str, schedule: Schedule) -> None:
    """Raise when a schedule is wrong, as `validate` tells it; `path` is for the message.

    Raises
    ------
    InvalidScheduleError
        When the schedule breaks a rule, never ends or claims something false.
    """
    from themis_opt.judging.validator import validate

    violations = validate(schedule.instance, schedule)
    if violations:
        lines = [violation_line(path, violation) for violation in violations[:_MAX_SHOWN]]
        num_more = len(violations) - len(lines)
        more = f", and {num_more} more violation{'s' if num_more > 1 else ''}" if num_more else ""
        error = InvalidScheduleError(violations)
        error.args = ("\n".join([*lines, f"{path}: is not exported{more}; see 'themis-opt validate {path}'"]),)
        raise error
