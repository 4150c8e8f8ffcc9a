"""Makes files that are nearly valid, which get further into a reader than random bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from .readers import PIECES

if TYPE_CHECKING:
    from collections.abc import Sequence


@st.composite
def mutated(draw: st.DrawFn, seeds: Sequence[bytes]) -> bytes:
    """Mutate one of the files: remove, insert or repeat pieces, change values, cut off the end."""
    data = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.sampled_from([0, 1, 2, 8, 40, 200])))
        piece = draw(st.one_of(st.sampled_from(PIECES), st.binary(max_size=4)))
        match draw(st.integers(0, 4)):
            case 0:
                data = data[:start] + piece + data[end:]
            case 1:
                data = data[:start] + data[start:end] * draw(st.sampled_from([0, 2, 50])) + data[end:]
            case 2:
                lines = data.split(b"\n")
                number = draw(st.integers(0, len(lines) - 1))
                lines[number] = lines[number].partition(b":")[0] + b": " + piece
                data = b"\n".join(lines)
            case 3:
                data = data[:start]
            case _:
                data = data[:start] + piece + data[start:]
    return data
