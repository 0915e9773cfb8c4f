"""Where baseline, Themis and the optimum part ways, as JSON (``themis-opt/when/1``)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from themis_opt.problem.instance import Instance
from themis_opt.problem.ratios import finite
from themis_opt.problem.schedule import Schedule
from themis_opt.problem.version import VERSION
from themis_opt.questions.explain.provisioned import Provision
from themis_opt.questions.when.when import Comparison
from themis_opt.questions.when.when_words import findings

FORMAT = "themis-opt/when/1"


def when_json(
    instance: Instance,
    provisions: Sequence[Provision],
    comparisons: Sequence[Comparison],
    options: Mapping[str, Any],
) -> str:
    """Return everything there is to tell.

    Parameters
    ----------
    instance
        Network and collective.
    provisions
        How each involved dimension is provisioned.
    comparisons
        One for each message size, ascending.
    options
        What the user asked for, the thresholds and sizes among them.
    """
    themis, optimum = options["themis_gain"], options["optimum_gain"]
    document = {
        "format": FORMAT,
        "themis_opt_version": VERSION,
        "options": dict(options),
        "network": instance.network.name,
        "collective": str(instance.collective),
        "occupancy": str(instance.occupancy),
        "chunk_overhead_ps": instance.chunk_overhead_ps,
        "dimensions": [
            {
                "dimension": provision.dimension,
                "bandwidth_Bps": float(provision.bandwidth_Bps),
                "needed_Bps": float(provision.needed_Bps),
                "ratio": float(provision.ratio),
                "supply": str(provision.supply),
            }
            for provision in provisions
        ],
        "is_complete": len(comparisons) == len(options["sizes_bytes"]),
        "rows": [_row(comparison, optimum) for comparison in comparisons],
        "findings": findings(comparisons, themis, optimum),
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _row(comparison: Comparison, threshold: float) -> dict[str, Any]:
    row: dict[str, Any] = {
        "size_bytes": comparison.size_bytes,
        "baseline": _schedule(comparison.baseline),
        "themis": _schedule(comparison.themis),
        "best_known": _schedule(comparison.best),
        "bound_ps": comparison.bound.value_ps,
        "bound_kind": str(comparison.bound.kind),
        "bound_chunks": [comparison.bound.scope.min_chunks, comparison.bound.scope.max_chunks],
        "themis_over_baseline": finite(comparison.themis_gain),
    }
    for name, schedule in (("themis", comparison.themis), ("baseline", comparison.baseline)):
        row[f"optimum_over_{name}"] = {
            "at_least": finite(comparison.least_gain(schedule)),
            "at_most": finite(comparison.most_gain(schedule)),
            "is_above_threshold": str(comparison.optimum_gains(schedule, threshold)),
        }
    return {**row, "note": comparison.note}


def _schedule(schedule: Schedule) -> dict[str, Any]:
    return {
        "scheduler": schedule.scheduler,
        "num_chunks": schedule.num_chunks,
        "sizes": str(schedule.sizing),
        "makespan_ps": schedule.timed_ps,
    }
