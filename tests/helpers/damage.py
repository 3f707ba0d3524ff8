"""Damaged input for readers that must never fail but with a message."""

from hypothesis import strategies as st


def damaged(data: st.DataObject, whole: bytes, most: int, longest: int) -> bytes:
    """Return bytes of which up to `most` places, each at most so long, are cut or replaced."""
    left = bytearray(whole)
    for _ in range(data.draw(st.integers(1, most))):
        at = data.draw(st.integers(0, len(left) - 1))
        left[at : at + data.draw(st.integers(0, longest))] = data.draw(st.binary(max_size=longest))
        if not left:
            break
    return bytes(left)
