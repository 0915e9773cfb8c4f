"""The interpreter of MSCCL XML: what is right passes, whoever wrote it, and what was changed is found where it is."""

from __future__ import annotations

import re

import msccl_examples as examples
import pytest
from msccl_examples import algo, gpu, step, tb

from themis_opt.export.msccl.judge.xml_judge import interpret_text
from themis_opt.export.verdict import Finding
from themis_opt.problem.errors import InputError

RIGHT = {
    "ring": examples.RING_ALL_GATHER,
    "fused": examples.FUSED_ALL_REDUCE,
    "pairs": examples.PAIRS_ALL_REDUCE,
    "all-to-all": examples.ALL_TO_ALL,
    "reduce-scatter": examples.REDUCE_SCATTER,
}


def findings_of(text: str) -> tuple[Finding, ...]:
    return interpret_text(text, "x.xml").findings


def changed(text: str, old: str, new: str, occurrence: int = 0) -> str:
    """Return the text with one occurrence of `old` changed."""
    places = [match.start() for match in re.finditer(re.escape(old), text)]
    place = places[occurrence]
    return text[:place] + new + text[place + len(old) :]


@pytest.mark.parametrize("text", RIGHT.values(), ids=RIGHT)
def test_right_algorithms_pass(text: str) -> None:
    assert findings_of(text) == ()


def test_the_summary_says_what_was_run() -> None:
    summary = interpret_text(examples.RING_ALL_GATHER, "x.xml").summary
    assert summary.startswith("MSCCL allgather hand, in place: 3 ranks, 6 threadblocks, 12 steps")
    assert "not modelled" in summary
    assert "lacks" not in summary


def test_what_older_writers_leave_out_is_said() -> None:
    assert "it lacks outofplace, minBytes, maxBytes" in interpret_text(examples.FUSED_ALL_REDUCE, "x").summary
    assert "without effect here: algo nthreads" in interpret_text(examples.PAIRS_ALL_REDUCE, "x").summary


def test_an_input_written_to_out_of_place_is_said() -> None:
    """NCCL's input is constant, but such algorithms exist, and their results are right."""
    text = examples.ALL_TO_ALL.replace(
        '<tb id="1" send="-1" recv="-1" chan="0">', '<tb id="1" send="-1" recv="-1" chan="-1">'
    )
    assert "overwrites its input" not in interpret_text(text, "x").summary
    spoiled = changed(text, "</tb>\n</gpu>", step(1, "cpy", "o0", "i0") + "</tb>\n</gpu>")
    assert "overwrites its input" in interpret_text(spoiled, "x").summary


def test_a_step_less_is_found_at_the_other_end() -> None:
    second_send = step(1, "s", "o2", "o2", dep=(1, 0))  # rank 0 passes on what it got from rank 2
    (finding,) = findings_of(changed(examples.RING_ALL_GATHER, second_send, ""))
    assert str(finding) == ("rank 1, tb 1, step 1: waits for message 2 from rank 0 on channel 0, which sends 1")
    assert (finding.rank, finding.step) == (1, 1)


def test_a_receive_less_is_found_at_the_sender() -> None:
    second_receive = step(1, "r", "o1", "o1")  # rank 0's last
    (finding,) = findings_of(changed(examples.RING_ALL_GATHER, second_receive, ""))
    assert str(finding) == "rank 2, tb 0, step 1: sends message 2 to rank 0 on channel 0, which receives 1"


def test_a_wrong_offset_is_found_with_rank_chunk_and_step() -> None:
    wrong = changed(examples.RING_ALL_GATHER, step(0, "s", "o1", "o1"), step(0, "s", "o0", "o1"))
    findings = findings_of(wrong)
    # Rank 1 sends o0 before it has come: it races with its receive, and ranks 2 and 0 hold the wrong thing.
    assert any("a race" in str(finding) and finding.rank == 1 for finding in findings)
    held = next(finding for finding in findings if finding.rank == 2)
    assert (held.chunk, held.step) == (1, 0)
    assert "is wrong" in str(held) or "instead of" in str(held)


def test_swapped_peers_are_found() -> None:
    swapped = changed(examples.RING_ALL_GATHER, '<tb id="0" send="1"', '<tb id="0" send="2"')
    findings = findings_of(swapped)
    assert "rank 1, tb 1, step 0: waits for message 1 from rank 0 on channel 0, which sends 0" in map(str, findings)


def test_a_missing_dependency_is_a_race() -> None:
    without = changed(examples.RING_ALL_GATHER, step(1, "s", "o2", "o2", dep=(1, 0)), step(1, "s", "o2", "o2"))
    races = [finding for finding in findings_of(without) if "a race" in str(finding)]
    assert [(race.rank, race.chunk) for race in races] == [(0, 2)]
    assert "tb 0, step 1" in str(races[0])
    assert "tb 1, step 0" in str(races[0])


def test_what_another_rank_knows_orders_steps_too() -> None:
    """Rank 0 overwrites i1 only after rank 1 has answered, so that its send of i1 is long done: no race."""
    text = algo(
        "allreduce",
        1,
        gpu(0, (1, 0, 0), tb(0, 1, -1, step(0, "s", "i0", "i0")), tb(1, -1, 1, step(0, "r", "i0", "i0"))),
        gpu(1, (1, 0, 0), tb(0, 0, 0, step(0, "rrcs", "i0", "i0"))),
    )
    assert findings_of(text) == ()


def test_a_circle_of_waits_is_named() -> None:
    text = algo(
        "allreduce",
        1,
        *(
            gpu(
                rank,
                (1, 0, 0),
                tb(0, 1 - rank, -1, step(0, "s", "i0", "i0", dep=(1, 0))),
                tb(1, -1, 1 - rank, step(0, "rrc", "i0", "i0", hasdep=1)),
            )
            for rank in range(2)
        ),
    )
    (finding,) = findings_of(text)
    assert str(finding) == (
        "deadlock: each of these waits for the next, for ever: rank 0, tb 0, step 0 -> rank 0, tb 1, step 0 -> "
        "rank 1, tb 0, step 0 -> rank 1, tb 1, step 0 -> rank 0, tb 0, step 0"
    )


def test_a_contribution_that_counts_twice_is_named() -> None:
    """Rank 1 sends its own value twice, and rank 0 adds it twice."""
    text = algo(
        "allreduce",
        1,
        gpu(
            0, (1, 0, 0), tb(0, 1, 1, step(0, "rrc", "i0", "i0"), step(1, "rrc", "i0", "i0"), step(2, "s", "i0", "i0"))
        ),
        gpu(1, (1, 0, 0), tb(0, 0, 0, step(0, "s", "i0", "i0"), step(1, "s", "i0", "i0"), step(2, "r", "i0", "i0"))),
    )
    first, second = findings_of(text)
    assert (first.rank, first.chunk, first.step, second.rank) == (0, 0, 1, 1)
    assert "rank 0, tb 0, step 1 adds the contribution of rank 1 to chunk 0 of ranks 0, 1 again" in str(first)


def test_a_missing_contribution_is_named() -> None:
    text = algo("allreduce", 1, gpu(0, (1, 0, 0)), gpu(1, (1, 0, 0)))
    assert [str(finding) for finding in findings_of(text)] == [
        "rank 0: i[0], which is to hold chunk 0, lacks the contribution of rank 1",
        "rank 1: i[0], which is to hold chunk 0, lacks the contribution of rank 0",
    ]


def test_an_algorithm_for_both_uses_must_be_right_in_both() -> None:
    both = examples.FUSED_ALL_REDUCE.replace('inplace="1"', 'inplace="1" outofplace="1"')
    first = findings_of(both)[0]
    assert str(first).startswith("out of place: rank 0: o[0]")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('ngpus="3"', 'ngpus="4"', "ngpus is 4: the gpu ids must be 0 to 3"),
        ('<gpu id="1"', '<gpu id="0"', "gpu id 0 stands twice"),
        ('<tb id="1"', '<tb id="0"', "rank 0: tb ids must be 0 to 1, each once"),
        ('send="1"', 'send="3"', "rank 0, tb 0: send is 3"),
        ('send="1"', 'send="0"', "rank 0, tb 0: send is 0"),
        ('send="1"', 'send="-1"', "rank 0, tb 0, step 0: type s sends, and the threadblock has no peer"),
        ('chan="0"', 'chan="1"', "rank 0, tb 0: chan is 1; nchannels is 1"),
        ('nchannels="1"', 'nchannels="33"', "nchannels is 33"),
        ('proto="Simple"', 'proto="simple"', "proto is 'simple'"),
        ('s="1" type', 's="2" type', "rank 0, tb 0, step 1: its s is 2"),
        ('type="s"', 'type="send"', "rank 0, tb 0, step 0: type 'send' is none"),
        ('cnt="1"', 'cnt="72"', "rank 0, tb 0, step 0: cnt is 72; a step moves 1 to 71"),
        ('srcoff="0"', 'srcoff="3"', "srcoff 3 with cnt 1 is outside buffer o of 3 chunks"),
        ('srcbuf="o"', 'srcbuf="b"', "srcbuf is 'b'"),
        ('hasdep="1"', 'hasdep="0"', "rank 0, tb 0, step 1: waits for tb 1, step 0, whose hasdep is not 1"),
        ('deps="0"', 'deps="2"', "rank 0, tb 0, step 1: waits for tb 1, step 2, which the rank does not have"),
        ('o_chunks="3"', 'o_chunks="4"', "rank 0: o_chunks is 4, which is not nchunksperloop, 3"),
        ('nchunksperloop="3"', 'nchunksperloop="40000"', "nchunksperloop is 40000"),
        ('inplace="1"', 'inplace="0"', "inplace and outofplace are both 0: the algorithm is never used"),
        ('minBytes="0" maxBytes="0"', 'minBytes="9" maxBytes="8"', "minBytes is 9, above maxBytes, 8"),
    ],
)  # fmt: skip
def test_broken_rules_are_findings(old: str, new: str, message: str) -> None:
    findings = findings_of(changed(examples.RING_ALL_GATHER, old, new))
    assert any(message in str(finding) for finding in findings), findings


def test_rules_about_nops() -> None:
    """A nop must wait for something, and what comes after it too, or executors count steps wrong or refuse."""
    idle = examples.RING_ALL_GATHER.replace(
        step(1, "r", "o1", "o1"), step(1, "nop", "o0", "o0") + step(2, "r", "o1", "o1"), 1
    )
    messages = list(map(str, findings_of(idle)))
    assert any("a nop without depid" in message for message in messages)
    assert any("comes after a nop without a depid of its own" in message for message in messages)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('ngpus="3"', "", "algo hand: ngpus: is missing"),
        ('inplace="1"', 'in_place="1"', r"algo hand: inplace: is missing \(did you mean 'in_place'\?\)"),
        ('cnt="1"', 'cnt="one"', "gpu 0, tb 0, step 0: cnt: 'one' is not a whole number"),
        ('cnt="1"', 'cnt="99999999999"', "is not a whole number of at most 31 bits"),
        ("<tb ", "<block ", "<block> is not known here; only <tb> may stand there"),
        ('coll="allgather"', 'coll="broadcast"', "'broadcast' cannot be judged"),
        ("</algo>", "", "line .* not well-formed XML"),
        ("<algo", "text<algo", "not well-formed"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_an_error_with_its_place(old: str, new: str, message: str) -> None:
    with pytest.raises(InputError, match="x.xml: .*" + message):
        findings_of(changed(examples.RING_ALL_GATHER, old, new))


def test_connections_of_two_threadblocks_are_refused() -> None:
    twice = changed(examples.PAIRS_ALL_REDUCE, '<tb id="1" send="-1"', '<tb id="1" send="1"')
    assert "rank 0: 2 threadblocks send to rank 1 on channel 0; only one may" in map(str, findings_of(twice))


def test_a_read_that_does_not_wait_for_its_write_is_a_race() -> None:
    """The own shard is copied by one threadblock and sent by another, which may be the faster one."""

    def gathering(dep: tuple[int, int]) -> str:
        ranks = [
            gpu(
                rank,
                (1, 2, 0),
                tb(0, -1, -1, step(0, "cpy", "i0", f"o{rank}", hasdep=1)),
                tb(1, 1 - rank, -1, step(0, "s", f"o{rank}", f"o{rank}", dep=dep)),
                tb(2, -1, 1 - rank, step(0, "r", f"o{1 - rank}", f"o{1 - rank}")),
            )
            for rank in range(2)
        ]
        return algo("allgather", 2, *ranks, inplace=0)

    assert findings_of(gathering((0, 0))) == ()
    races = findings_of(gathering((-1, -1)))
    assert [(race.rank, race.step) for race in races] == [(0, 0), (1, 0)]
    assert str(races[0]).startswith("rank 0, tb 1, step 0: reads o[0], which tb 0, step 0, writes too")


def test_sums_of_different_chunks_are_named() -> None:
    text = examples.REDUCE_SCATTER.replace(step(0, "s", "i1", "o0"), step(0, "s", "i0", "o0"), 1)
    (finding,) = findings_of(text)
    assert "rank 1, tb 0, step 1 adds chunk 0 of rank 0 to chunk 1 of rank 1" in str(finding)
    assert (finding.rank, finding.chunk, finding.step) == (1, 1, 1)


def test_both_ends_of_a_message_move_the_same_number_of_chunks() -> None:
    """Executors cut what is sent and what is received alike, and a connection has no borders between messages."""
    text = changed(examples.FUSED_ALL_REDUCE, step(0, "s", "i0", "i0"), step(0, "s", "i0", "i0", cnt=2))
    (finding,) = findings_of(text)
    assert str(finding) == (
        "rank 1, tb 0, step 1: receives 1 chunks, and rank 0 sends 2 with that message on channel 0"
    )
