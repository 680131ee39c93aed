"""A patch that mends a net: files before and after, what it mends, and what was seen with it."""

import msgspec

from explorer.model.causes import Cause


class Proof(msgspec.Struct, frozen=True, kw_only=True):
    """What a copy of the net gave with the patch.

    ``matching`` of the ``cases`` that were run match, in all ``engines``; ``differing`` are the results of
    the main case that still differ, and ``has_divergence`` says whether the graphs still part.
    """

    engines: tuple[str, ...]
    cases: int
    matching: int
    differing: tuple[str, ...] = ()
    has_divergence: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether nothing differs any more."""
        return self.matching == self.cases and not self.differing and not self.has_divergence


class Mended(msgspec.Struct, frozen=True):
    """A ``file`` whose text was ``before`` and is ``after``."""

    file: str
    before: str
    after: str


class Patch(msgspec.Struct, frozen=True, kw_only=True):
    """Other texts of some ``files``, with which two nets give the same.

    ``causes`` are those of the divergences that it mends, as far as they are known; ``tried`` counts the
    changes that were run.
    """

    files: tuple[Mended, ...]
    causes: tuple[Cause, ...] = ()
    tried: int = 0
    proof: Proof
