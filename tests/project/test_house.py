"""The house stays small: what stands where, names that occur once, functions that fit on a screen."""

from __future__ import annotations

import ast
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = next(folder for folder in Path(__file__).parents if (folder / "pyproject.toml").is_file())
PACKAGES = (ROOT / "themis_opt", ROOT / "models" / "themis_models")


def modules() -> Iterator[Path]:
    for package in PACKAGES:
        yield from sorted(package.rglob("*.py"))


def functions() -> Iterator[tuple[str, ast.FunctionDef]]:
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                yield f"{path.relative_to(ROOT)}:{node.lineno} {node.name}", node


def num_parameters(function: ast.FunctionDef) -> int:
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return sum(argument.arg not in ("self", "cls") for argument in named)


def without_parameters_section() -> Iterator[str]:
    """Yield the public functions with three parameters or more whose docstring does not say what these are."""
    for path in modules():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            members = node.body if isinstance(node, ast.ClassDef) else [node]
            for function in members if not getattr(node, "name", "_").startswith("_") else []:
                is_public = isinstance(function, ast.FunctionDef) and not function.name.startswith("_")
                # A verb's docstring is its help, where each option has a line of its own.
                if not is_public or function.name == "command" or num_parameters(function) < 3:
                    continue
                if "Parameters\n" not in (ast.get_docstring(function) or ""):
                    yield f"{path.relative_to(ROOT)}: {function.name}"


def test_only_the_public_face_stands_at_the_top() -> None:
    here = {path.name for path in PACKAGES[0].iterdir() if path.is_file()}
    assert here == {"__init__.py", "__main__.py", "py.typed"}


def test_a_modules_name_occurs_once() -> None:
    counts = Counter(path.name for path in modules() if path.name != "__init__.py")
    assert [name for name, count in counts.items() if count > 1] == []


def test_packages_hand_nothing_on_but_the_public_ones() -> None:
    """What a package holds stands in its modules; a second way to a name is a second name."""
    handing_on = [
        str(path.parent.relative_to(ROOT))
        for path in modules()
        if path.name == "__init__.py" and len(ast.parse(path.read_text(encoding="utf-8")).body) > 1
    ]
    assert set(handing_on) <= {"themis_opt", "themis_opt/show/pictures", "themis_opt/studies"}


def test_the_layers_fit_on_ten_lines() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    (layers,) = [contract["layers"] for contract in contracts["contracts"] if contract["type"] == "layers"]
    assert len(layers) <= 10


def test_no_function_is_longer_than_a_screen() -> None:
    assert [name for name, node in functions() if (node.end_lineno or 0) - node.lineno + 1 > 80] == []


def test_no_function_has_more_than_ten_parameters() -> None:
    assert [name for name, node in functions() if num_parameters(node) > 10] == []


def test_who_takes_three_parameters_says_what_they_are() -> None:
    assert list(without_parameters_section()) == []
