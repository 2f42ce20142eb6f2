"""Pseudonyms: a name -> a number that only who has the key can compute, so that a trace can be studied and shared."""

from hashlib import blake2b


def pseudonym(key: bytes, name: bytes) -> int:
    """A number from 0 to 2^63 - 1. The same key and name give the same number; at 10^7 names two share one with p < 10^-5.

    `key`: 16 to 64 secret bytes. Without it numbers cannot be computed from guessed names.
    """
    return int.from_bytes(blake2b(name, digest_size=8, key=key).digest()) >> 1
