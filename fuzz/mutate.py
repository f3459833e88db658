"""Inputs that are almost right: seeds with something changed, the same ones for the same number."""

import random
from collections.abc import Callable, Iterator, Sequence

POISON = (
    b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1E400", b"9007199254740993", b"18446744073709551616",
    b"-0", b"0.1e-7", b"null", b"true", b'""', b"[]", b"{}", b"[[[[[[[[", b'{"a":' * 40, b"]" * 9,
    b'"\\ud800"', b"\\ud800", b"\\u0000", b"\xed\xa0\x80", b"\xff", b"\xc0\x80", b"\xe2\x80\xae",
    b"\xcc\x81" * 50,
    b"\x00", b"\r\n", b"\n", b'\\"', b"\\", b'"', b",", b":", b"__proto__", b"constructor", b"../../", b"%00",
    b"x" * 300, b'"type":', b'"id":', b"://", b"[", b"]", b";", b"=",
)  # fmt: skip


def inputs(seeds: Sequence[bytes], number: int) -> Iterator[bytes]:
    """The seeds as they are, then changed ones without end."""
    yield from seeds
    chance = random.Random(number)
    while True:
        data = chance.choice(seeds)
        for _ in range(chance.choice((1, 1, 1, 2, 3, 6))):
            data = chance.choice(CHANGES)(data, chance, seeds)
        yield data[: 1 << 16]


def _somewhere(data: bytes, chance: random.Random) -> tuple[int, int]:
    begin = chance.randrange(len(data) + 1)
    return begin, min(len(data), begin + chance.choice((1, 1, 2, 4, 16, 64)))


def flip(data: bytes, chance: random.Random, seeds: Sequence[bytes]) -> bytes:
    begin, end = _somewhere(data, chance)
    return data[:begin] + bytes(byte ^ 1 << chance.randrange(8) for byte in data[begin:end]) + data[end:]


def remove(data: bytes, chance: random.Random, seeds: Sequence[bytes]) -> bytes:
    begin, end = _somewhere(data, chance)
    return data[:begin] + data[end:]


def repeat(data: bytes, chance: random.Random, seeds: Sequence[bytes]) -> bytes:
    begin, end = _somewhere(data, chance)
    return data[:end] + data[begin:end] * chance.choice((1, 2, 50)) + data[end:]


def insert(data: bytes, chance: random.Random, seeds: Sequence[bytes]) -> bytes:
    at, _ = _somewhere(data, chance)
    return data[:at] + chance.randbytes(chance.choice((1, 1, 2, 8))) + data[at:]


def poison(data: bytes, chance: random.Random, seeds: Sequence[bytes]) -> bytes:
    begin, end = _somewhere(data, chance)
    return data[:begin] + chance.choice(POISON) + data[chance.choice((begin, end)) :]


def splice(data: bytes, chance: random.Random, seeds: Sequence[bytes]) -> bytes:
    other = chance.choice(seeds)
    return data[: chance.randrange(len(data) + 1)] + other[chance.randrange(len(other) + 1) :]


def cut(data: bytes, chance: random.Random, seeds: Sequence[bytes]) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


Change = Callable[[bytes, random.Random, Sequence[bytes]], bytes]
CHANGES: tuple[Change, ...] = (flip, remove, repeat, insert, poison, poison, splice, cut)
