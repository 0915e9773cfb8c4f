"""The bounds in a record: who computed them and when, and proving again what needs no search."""

from __future__ import annotations

import re
from fractions import Fraction

import msgspec

from themis_opt.files.strict import show
from themis_opt.problem.bound import Bound, BoundKind, BoundScope
from themis_opt.problem.checks import MAX_MAGNITUDE, did_you_mean
from themis_opt.problem.chunking import Chunking
from themis_opt.problem.errors import InputError
from themis_opt.problem.instance import Instance
from themis_opt.proof.certificate import certified_bound_ps
from themis_opt.proof.critical_path import critical_path_bound
from themis_opt.questions.run_claims import LP_TOLERANCE
from themis_opt.solving.bounds import bounds_by_count

SEARCHLESS = (BoundKind.FLUID, BoundKind.CRITICAL_PATH)
"""Bounds that are computed, not searched for: no clock decides how good they are."""

MAX_SEED = 2**31 - 1

_WEIGHT = re.compile(r"-?[0-9]{1,2000}(/[0-9]{1,2000})?")
"""Not whatever `Fraction` takes: 1e999999999 is a fraction too, with a billion digits."""


class Origin(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What found or proved something: solver, version of the program, seed, threads, time taken and day."""

    solver: str
    version: str
    seed: int
    workers: int
    time: str
    date: str


class Proof(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A lower bound.

    Attributes
    ----------
    bound_ps
        Its value.
    kind
        The argument that proves it, as in a schedule file (`BoundKind`).
    certificate
        One weight per network dimension as ``p/q``, or ``None``.
    certified_ps
        What the certificate alone proves.
    proved
        Who computed it, and when.
    """

    bound_ps: int
    kind: str
    certificate: list[str] | None = None
    certified_ps: int | None = None
    proved: Origin

    @property
    def searchless_ps(self) -> int:
        """The part that does not depend on what a solver comes to in its time."""
        return self.bound_ps if self.kind in SEARCHLESS else self.certified_ps or 0

    @property
    def weights(self) -> tuple[Fraction, ...] | None:
        """The certificate as numbers.

        Raises
        ------
        ValueError, ZeroDivisionError
            When one of them is no fraction.
        """
        return None if self.certificate is None else tuple(map(_weight, self.certificate))


def proof_of(bound: Bound, origin: Origin) -> Proof:
    """Return a bound as a record states it."""
    weights = bound.certificate
    return Proof(
        bound_ps=bound.value_ps,
        kind=str(bound.kind),
        certificate=None if weights is None else [f"{weight.numerator}/{weight.denominator}" for weight in weights],
        certified_ps=bound.certified_ps,
        proved=origin,
    )


def check_within(key: str, value: int, least: int, most: int) -> None:
    """Raise unless a number is within what is allowed.

    Raises
    ------
    InputError
        Naming the key, the value and what is allowed.
    """
    if not least <= value <= most:
        raise InputError(f"{key}: {show(value)} is not allowed; {least} to {most} is expected here")


def check_time(key: str, value_ps: int) -> None:
    """Raise unless a makespan or a bound is above zero: a gap is a ratio of the two.

    Raises
    ------
    InputError
        Naming the key, the value and what is allowed.
    """
    if not 0 < value_ps < MAX_MAGNITUDE:
        raise InputError(f"{key}: {show(value_ps)} is not allowed; it must be above 0 ps and below 10^60 ps")


def check_origin(key: str, origin: Origin) -> None:
    """Raise unless seed and threads are numbers that a solver takes.

    Raises
    ------
    InputError
        Naming the key, the value and what is allowed.
    """
    check_within(f"{key}.seed", origin.seed, 0, MAX_SEED)
    check_within(f"{key}.workers", origin.workers, 1, MAX_SEED)


def check_proof(key: str, proof: Proof, instance: Instance, scope: BoundScope) -> None:
    """Prove a bound for exactly so many chunks again, where that needs no search.

    Raises
    ------
    InputError
        Naming the key of what is not allowed or not proven.
    """
    proven_ps = _certified_ps(key, proof, instance, scope)
    if proof.kind == BoundKind.CRITICAL_PATH:
        proven_ps = max(proven_ps or 0, critical_path_bound(instance, scope).value_ps)
    if (proof.kind in SEARCHLESS and proof.bound_ps != proven_ps) or (proven_ps or 0) > proof.bound_ps:
        raise InputError(f"{key}.bound_ps: {proof.bound_ps} is not what is proven here, {proven_ps}")


def check_proof_any(key: str, proof: Proof, instance: Instance, chunking: Chunking) -> None:
    """Prove a bound for every number of chunks allowed again, where that needs no search.

    As `themis_opt.solving.bounds.bound_over_counts` makes it, it is the least of one bound for each number, mostly
    without a certificate, and carries the kind of that one.

    Raises
    ------
    InputError
        Naming the key of what is not allowed or not proven.
    """
    scope = BoundScope(chunking.sizing, chunking.min_chunks, chunking.max_chunks)
    proven_ps = _certified_ps(key, proof, instance, scope)
    if (proven_ps or 0) > proof.bound_ps:
        raise InputError(f"{key}.bound_ps: {proof.bound_ps} is less than what is proven here, {proven_ps}")
    if proof.kind in SEARCHLESS and proof.bound_ps != proven_ps:
        _check_least(key, proof, bounds_by_count(instance, chunking))


def _check_least(key: str, proof: Proof, bounds: list[Bound]) -> None:
    """Raise when a bound is above the least of these, unless it is one of them: the lesser were raised by search."""
    least_ps = min(bound.value_ps for bound in bounds)
    if proof.bound_ps <= least_ps * (1 + LP_TOLERANCE):
        return
    same_kind = [bound.value_ps for bound in bounds if bound.kind == proof.kind]
    if not any(abs(value_ps - proof.bound_ps) <= value_ps * LP_TOLERANCE for value_ps in same_kind):
        raise InputError(f"{key}.bound_ps: {proof.bound_ps} is more than what is proven here, {least_ps}")


def _certified_ps(key: str, proof: Proof, instance: Instance, scope: BoundScope) -> int | None:
    """Return what the certificate proves, having checked everything else that a proof says."""
    kinds = [str(kind) for kind in BoundKind]
    if proof.kind not in kinds:
        hint = did_you_mean(proof.kind, kinds)
        raise InputError(f"{key}.kind: {show(proof.kind)} is not allowed; one of: {', '.join(kinds)}{hint}")
    check_time(f"{key}.bound_ps", proof.bound_ps)
    check_origin(f"{key}.proved", proof.proved)
    try:
        weights = proof.weights
        proven_ps = None if weights is None else certified_bound_ps(instance, weights, scope)
    except (ValueError, ZeroDivisionError):
        raise InputError(f"{key}.certificate: holds what is no fraction such as '3/7'") from None
    except InputError as error:
        raise error.at(key) from None
    if proof.certified_ps != proven_ps:
        raise InputError(f"{key}.certified_ps: {proof.certified_ps} is not what the certificate proves, {proven_ps}")
    return proven_ps


def _weight(text: str) -> Fraction:
    if not _WEIGHT.fullmatch(text):
        raise ValueError(text)
    return Fraction(text)
