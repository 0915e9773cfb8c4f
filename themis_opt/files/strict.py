"""From plain data to typed documents, refusing everything unexpected with its path and the nearest known key."""

from __future__ import annotations

import reprlib
from fractions import Fraction
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from themis_opt.problem.checks import did_you_mean
from themis_opt.problem.errors import InputError

Document = TypeVar("Document", bound=msgspec.Struct)

_SHOWN = 60
_MAX_SHOWN_DIGITS = 12
_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = _REPR.maxlong = 2 * _SHOWN
_PLAIN_TYPES: dict[type, type] = {
    inspect.StructType: dict,
    inspect.ListType: list,
    inspect.TupleType: list,
    inspect.IntType: int,
    inspect.StrType: str,
    inspect.EnumType: str,
    inspect.NoneType: type(None),
}
"""What plain data looks like that belongs to a type."""


def decode(data: object, kind: type[Document]) -> Document:
    """Return `data` (dicts, lists, strings, integers, None) as a document.

    Raises
    ------
    InputError
        Naming the path of the key, the value and what is allowed there.
    """
    # msgspec names neither the nearest key nor, for an unknown one, its own path: so all is looked at here first.
    _check(data, inspect.type_info(kind), "")
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:  # what the check above does not cover
        raise InputError(str(error)) from None


def show(value: object) -> str:
    """Return a value as it may stand in a message: short, on one line, as it is written in a file."""
    if isinstance(value, Fraction):
        return number_text(value)
    # Not repr: a file may nest deeper, or hold more, than anybody wants to see.
    text = {True: "true", False: "false"}[value] if isinstance(value, bool) else _REPR.repr(value)
    return shorten("null" if value is None else text)


def shorten(text: str, most: int = _SHOWN) -> str:
    """Return a text of at most `most` characters, with three dots where something is left out."""
    return text if len(text) <= most else text[: most - 3] + "..."


def number_text(value: Fraction | int) -> str:
    """Return a number for people: all its digits where they are few, else ten.

    >>> number_text(Fraction(375, 2)), number_text(Fraction(1, 3))
    ('187.5', '0.3333333333')
    """
    value = Fraction(value)
    if value.denominator == 1 and len(str(value.numerator)) <= _MAX_SHOWN_DIGITS:
        return str(value.numerator)
    short = f"{float(value):.{_MAX_SHOWN_DIGITS}g}"
    return short if value.denominator > 1 and Fraction(short) == value else f"{float(value):.10g}"


def _check(data: object, expected: inspect.Type, path: str) -> None:
    if isinstance(expected, inspect.UnionType):
        _check(data, _pick(data, expected), path)
    elif isinstance(expected, inspect.StructType):
        _check_struct(data, expected, path)
    elif isinstance(expected, inspect.ListType):
        for index, item in enumerate(_expect(data, list, path, "a list")):
            _check(item, expected.item_type, f"{path}[{index}]")
    elif isinstance(expected, inspect.TupleType):
        items = _expect(data, list, path, f"a list of {len(expected.item_types)} values")
        if len(items) != len(expected.item_types):
            _fail(path, f"has {len(items)} values; a list of {len(expected.item_types)} values is expected here")
        for index, (item, item_type) in enumerate(zip(items, expected.item_types, strict=True)):
            _check(item, item_type, f"{path}[{index}]")
    elif isinstance(expected, inspect.DictType):
        _expect(data, dict, path, "a mapping of keys to values")
    elif isinstance(expected, inspect.EnumType):
        words = [member.value for member in expected.cls]
        if data not in words or not isinstance(data, str):
            _fail(path, f"{show(data)} is not allowed; one of: {', '.join(words)}{did_you_mean(data, words)}")
    elif isinstance(expected, inspect.IntType):
        _expect(data, int, path, "a whole number")
    elif isinstance(expected, inspect.FloatType):
        _expect(data, int if type(data) is int else float, path, "a number")
    elif isinstance(expected, inspect.StrType):
        text = _expect(data, str, path, "a text (a quantity needs its unit, such as 1600 Gb/s, 700 ns or 100 MB)")
        if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
            _fail(path, f"{show(text)} holds half a character (a lone surrogate); write the character itself")


def _check_struct(data: object, expected: inspect.StructType, path: str) -> None:
    mapping = _expect(data, dict, path, "a mapping of keys to values")
    fields = {field.encode_name: field for field in expected.fields}
    for key in mapping:
        if key not in fields and expected.forbid_unknown_fields:
            hint = did_you_mean(key, fields)
            _fail(_join(path, shorten(str(key))), f"unknown key; known here are: {', '.join(fields)}{hint}")
    for name, field in fields.items():
        if name in mapping:
            _check(mapping[name], field.type, _join(path, name))
    for name, field in fields.items():
        if field.required and name not in mapping:
            _fail(_join(path, name), "is missing")


def _pick(data: object, union: inspect.UnionType) -> inspect.Type:
    """Return the member of a union that data of this kind belongs to; without one, the last, which can say so."""
    fitting = (member for member in union.types if type(data) is _PLAIN_TYPES.get(type(member)))
    return next(fitting, [member for member in union.types if not isinstance(member, inspect.NoneType)][-1])


def _expect(data: object, kind: type, path: str, wanted: str) -> Any:
    # An exact comparison of types: true is no whole number here.
    if type(data) is not kind:
        _fail(path, f"{show(data)} is not allowed; expected {wanted}")
    return data


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _fail(path: str, message: str) -> None:
    raise InputError(f"{path}: {message}" if path else message)
