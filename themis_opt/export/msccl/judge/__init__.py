"""Judging an MSCCL XML algorithm, by whomever: read strictly, checked against the executors' rules, run on symbols."""
