"""Protocol buffers as far as traces need them: writing varints and length-delimited fields.

A message is a sequence of fields; a field is a key, ``number << 3 | wire type``, and a value. Wire type 0 is a varint
(seven bits a byte, lowest first, the top bit set on all but the last byte), wire type 2 a length and so many bytes.
Source: protobuf.dev/programming-guides/encoding.
"""

from __future__ import annotations

VARINT, LENGTH_DELIMITED = 0, 2


def varint(value: int) -> bytes:
    """Return a number from 0 to 2^64 - 1 as a varint.

    >>> varint(300).hex()
    'ac02'
    """
    if value < 128:
        return bytes((value,))
    groups = bytearray()
    while value > 127:
        groups.append(value & 127 | 128)
        value >>= 7
    groups.append(value)
    return bytes(groups)


def varint_length(value: int) -> int:
    """Return how many bytes `varint` makes of a number."""
    return max(1, (value.bit_length() + 6) // 7)


def varint_lengths(first: int, stop: int) -> int:
    """Return how many bytes the numbers from `first` to `stop - 1` take together."""
    total, length, limit = 0, 1, 128
    while first < stop:
        count = min(stop, limit) - first
        if count > 0:
            total += count * length
            first += count
        length, limit = length + 1, limit << 7
    return total


def varint_field(number: int, value: int) -> bytes:
    """Return a field whose value is a varint; zero is written too."""
    return varint(number << 3 | VARINT) + varint(value)


def bytes_field(number: int, value: bytes) -> bytes:
    """Return a field whose value is a text, a message or a packed list."""
    return varint(number << 3 | LENGTH_DELIMITED) + varint(len(value)) + value


def record(message: bytes) -> bytes:
    """Return a message with its length in front, as files hold them one after the other."""
    return varint(len(message)) + message
