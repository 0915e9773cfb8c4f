"""Damaged and hostile MSCCL XML: an error or findings, soon, and never more memory than the text is worth."""

from __future__ import annotations

import re
import tracemalloc
from random import Random

import pytest
from msccl_examples import FUSED_ALL_REDUCE, PAIRS_ALL_REDUCE, RING_ALL_GATHER, algo, grid_schedule
from work_limit import limited_work

from themis_opt.export.msccl.judge.xml_judge import interpret_text
from themis_opt.export.msccl.write.lowering import lower
from themis_opt.export.msccl.write.xml_writing import xml_text
from themis_opt.problem.errors import InputError

WRITTEN = xml_text(lower(grid_schedule([(4, "ring"), (2, "direct")], num_chunks=2), in_place=False))
TEXTS = [RING_ALL_GATHER, FUSED_ALL_REDUCE, PAIRS_ALL_REDUCE, WRITTEN]
NUMBERS = ["-1", "-2", "0", "1", "2", "3", "71", "72", "255", "2147483647", "-2147483648"]
WORDS = ["", "9" * 18, "9" * 400, "1e9", "0x10", "nan", "i", "o", "s", "q", "rrcs", "nop", "re"]
ODDITIES = ["\N{ARABIC-INDIC DIGIT ONE}", "&amp;", "&#0;", "&#x10FFFF;"]
PEAK_BYTES = 64 * 2**20


def outcome(text: str) -> int:
    """Return how many findings there are, or -1 for an error; anything else raises."""
    try:
        return len(interpret_text(text, "fuzzed").findings)
    except InputError:
        return -1


def damaged(random: Random) -> str:
    """Return a text with one or two things wrong: cut, changed, added, renamed, doubled, shuffled."""
    text = random.choice(TEXTS)
    for _ in range(random.randint(1, 2)):
        kind = random.choice([0, 1, 1, 1, 1, 2, 3, 4, 4, 5])
        place = random.randrange(len(text)) if text else 0
        values = list(re.finditer(r'(\w+)="([^"]*)"', text))
        lines = text.splitlines(keepends=True)
        if kind == 0:
            text = text[:place]
        elif kind == 1 and values:
            match = random.choice(values)
            text = (
                text[: match.start(2)]
                + random.choice(random.choice([NUMBERS, NUMBERS, WORDS, ODDITIES]))
                + text[match.end(2) :]
            )
        elif kind == 2 and values:
            match = random.choice(values)
            text = (
                text[: match.start()]
                + random.choice(["", f'{match[1].upper()}="1"', match[0] * 2])
                + text[match.end() :]
            )
        elif kind == 3 and lines:
            random.shuffle(lines)
            text = "".join(lines)
        elif kind == 4 and lines:
            line = random.randrange(len(lines))
            text = "".join(lines[:line] + lines[line : line + 1] * random.choice([0, 2, 50]) + lines[line + 1 :])
        else:
            text = text[:place] + random.choice(["<", ">", '"', "\0", "<!--", "]]>", "<gpu>", "é"]) + text[place:]
    return text


@pytest.mark.parametrize("seed", range(200))
def test_damaged_texts_are_errors_or_findings(seed: int) -> None:
    with limited_work():
        outcome(damaged(Random(seed)))


def test_the_fuzzing_reaches_both() -> None:
    outcomes = [outcome(damaged(Random(seed))) for seed in range(200)]
    assert sum(number < 0 for number in outcomes) > 30
    assert sum(number > 0 for number in outcomes) > 30


def entity_bomb() -> str:
    levels = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
    return f'<?xml version="1.0"?><!DOCTYPE algo [<!ENTITY a0 "ha">{levels}]>' + RING_ALL_GATHER.replace("hand", "&a9;")


HOSTILE = {
    "bomb": entity_bomb(),
    "external entity": '<!DOCTYPE algo [<!ENTITY x SYSTEM "file:///etc/passwd">]>' + RING_ALL_GATHER,
    "remote document type": '<!DOCTYPE algo SYSTEM "http://example.org/a.dtd">' + RING_ALL_GATHER,
    "odd spelling": "<!DocType algo>" + RING_ALL_GATHER,
    "nesting": "<algo>" * 200_000,
    "known nesting": RING_ALL_GATHER.replace("<gpu ", "<gpu><gpu " * 5000, 1),
    "huge buffer": RING_ALL_GATHER.replace('i_chunks="0"', 'i_chunks="2147483647"'),
    "huge scratch": RING_ALL_GATHER.replace('s_chunks="0"', 's_chunks="2147483647"'),
    "huge loop": algo("allgather", 2_147_483_647).replace('ngpus="0"', 'ngpus="1"'),
    "huge count": RING_ALL_GATHER.replace('cnt="1"', 'cnt="2147483647"'),
    "huge world": RING_ALL_GATHER.replace('ngpus="3"', 'ngpus="2147483647"'),
    "huge world, alone": algo("allreduce", 5).replace('ngpus="0"', 'ngpus="2147483647"'),
    "huge name": RING_ALL_GATHER.replace("hand", "h" * 60_000).replace('send="1"', 'send="9"'),
    "many attributes": RING_ALL_GATHER.replace("<tb ", "<tb " + " ".join(f'x{n}="1"' for n in range(50_000)) + " ", 1),
    "one endless element": "<algo " + " ".join(f'a{n}="1"' for n in range(1_000_000)) + "/>",
    "an endless word": "<algo name='" + "h" * 10_000_000 + "'/>",
    "endless threadblocks": RING_ALL_GATHER.replace(
        "<tb ", '<tb id="0" send="-1" recv="-1" chan="0"/>' * 60_000 + "<tb ", 1
    ),
    "no element": "",
    "binary": "\x00\x01\x02<algo>",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_cost_neither_time_nor_memory(text: str) -> None:
    tracemalloc.start()
    try:
        with limited_work():
            number = outcome(text)
        assert tracemalloc.get_traced_memory()[1] < PEAK_BYTES
    finally:
        tracemalloc.stop()
    assert number != 0 or "s_chunks" in text, "taken for right"


def test_endless_elements_are_refused_by_their_number_and_length() -> None:
    for name, said in (
        ("endless threadblocks", "has more than 40000 gpus and thr"),
        ("one endless element", "is longer"),
    ):
        with pytest.raises(InputError, match=said):
            interpret_text(HOSTILE[name], "hostile.xml")


@pytest.mark.parametrize("kind", ["bomb", "external entity", "remote document type", "odd spelling"])
def test_document_types_are_refused_by_name(kind: str) -> None:
    with pytest.raises(InputError, match="refused: MSCCL files need no document type and no entities; remove it"):
        interpret_text(HOSTILE[kind], "x")


def test_huge_scratch_alone_is_no_fault() -> None:
    """Nobody has to allocate what nobody touches."""
    assert outcome(HOSTILE["huge scratch"]) == 0
