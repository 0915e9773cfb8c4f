"""Execution traces in MLCommons Chakra's format: a schedule as a folder that ASTRA-sim 2 replays message by message."""

from themis_opt.formats.chakra.folder import AstraFolder

__all__ = ["AstraFolder"]
