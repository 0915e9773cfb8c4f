"""The one encoder of result files: the format line first, then the keys of the struct, in readable lines."""

from __future__ import annotations

import json
from importlib import import_module
from pkgutil import walk_packages

from msgspec import UNSET, UnsetType

import themis_opt
from themis_opt.files.documents import WRITTEN_ONLY
from themis_opt.files.results import ResultDocument, result_text


class Answer(ResultDocument, kw_only=True, tag="themis-opt/answer/1"):
    makespan_ps: int
    rows: list[dict[str, list[int]]]
    gap: float | None = None
    note: str | UnsetType = UNSET


def test_every_entry_has_its_own_line_unless_a_width_is_given() -> None:
    answer = Answer(makespan_ps=7, rows=[{"a": [1, 2]}, {}], note="µ")
    assert result_text(answer) == json.dumps(json.loads(result_text(answer)), indent=1, ensure_ascii=False) + "\n"
    assert result_text(answer, line=24) == (
        '{\n "format": "themis-opt/answer/1",\n "makespan_ps": 7,\n "rows": [{"a": [1, 2]}, {}],\n'
        ' "gap": null,\n "note": "µ"\n}\n'
    )
    assert result_text(answer, line=14).splitlines()[3:9] == [
        ' "rows": [',
        "  {",
        '   "a": [1, 2]',
        "  },",
        "  {}",
        " ],",
    ]


def test_what_is_unset_is_not_written() -> None:
    assert "note" not in json.loads(result_text(Answer(makespan_ps=7, rows=[])))


def test_readers_know_every_kind_that_is_written() -> None:
    for module in walk_packages(themis_opt.__path__, "themis_opt."):
        if module.name.startswith(("themis_opt.questions.", "themis_opt.judging.", "themis_opt.solving.")):
            import_module(module.name)
    kinds = {kind.__struct_config__.tag for kind in ResultDocument.__subclasses__() if kind is not Answer}
    assert len(kinds) >= 7
    for line in kinds:
        program, kind, version = str(line).split("/")
        assert program == "themis-opt"
        assert kind in (*WRITTEN_ONLY, "comparison")
        assert version.isdigit()
