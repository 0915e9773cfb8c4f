"""Which implementation of the timing rule runs: the compiled kernel or its plain-Python reference."""

from __future__ import annotations

from enum import StrEnum

from themis_opt.problem.errors import InputError
from themis_opt.timing.stage_table import StageTable


class Engine(StrEnum):
    """`AUTO` takes the compiled kernel unless the durations could overflow its 64-bit integers."""

    AUTO = "auto"
    COMPILED = "compiled"
    REFERENCE = "reference"

    def compiles(self, table: StageTable) -> bool:
        """Return whether this choice runs the compiled kernel on `table`.

        Raises
        ------
        InputError
            When `COMPILED` is asked for and the durations do not fit.
        """
        if self is Engine.COMPILED and not table.fits_int64:
            raise InputError(
                f"all durations add up to {table.total_ps} ps, beyond the compiled kernel's 64-bit integers"
            )
        return self is Engine.COMPILED or (self is Engine.AUTO and table.fits_int64)
