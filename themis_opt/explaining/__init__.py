"""Why a schedule takes as long as it does, and where a network has too much or too little bandwidth."""

from themis_opt.explaining.account import InstanceAccount, ScheduleAccount, explain_instance, explain_schedule

__all__ = ["InstanceAccount", "ScheduleAccount", "explain_instance", "explain_schedule"]
