"""Which modules of a net a picture shows as one node: by depth, and by single modules."""

import msgspec

from explorer.model.errors import UsageError


class Folding(msgspec.Struct, frozen=True):
    """How far modules are merged, and those that are not merged as the depth says.

    ``depth`` is how many parts of a module path stay apart; 0 merges each phase whole, None no
    module. Paths in ``opened`` show what is directly in them, those in ``folded`` are one node.
    ``stretches`` above 0 merges each phase into at most so many parts that follow one another, whatever
    modules they are in; only what is ``opened`` stays apart.
    """

    depth: int | None = None
    opened: frozenset[str] = frozenset()
    folded: frozenset[str] = frozenset()
    stretches: int = 0

    def __post_init__(self) -> None:
        if self.depth is not None and self.depth < 0:
            raise UsageError(
                f"depth is {self.depth}: it counts the parts of a module path that stay apart, "
                "0 or more"
            )

    @property
    def merges_nothing(self) -> bool:
        """Whether every operator stands for itself."""
        return self.depth is None and not self.folded and not self.stretches

    @property
    def least(self) -> int:
        """The least number of parts that the path of a merged module has."""
        if self.depth is None:
            return 1
        return min(self.depth, 1) if self.folded else self.depth

    def opens(self, path: str) -> bool:
        """Whether a module path is one of those opened, or in one of them."""
        parts = path.split(".")
        return any(".".join(parts[:length]) in self.opened for length in range(1, len(parts) + 1))

    def module_of(self, path: str) -> str | None:
        """The module as which the nodes of a module path are shown; None where they stay apart."""
        if not path:
            return None if self.depth is None else ""
        parts = path.split(".")
        for length in range(1, len(parts) + 1):
            module = ".".join(parts[:length])
            if module in self.folded:
                return module
            is_deep = self.depth is not None and length >= self.depth
            if is_deep and module not in self.opened:
                return module
        # What is directly in a module of few parts is merged as well, beside the modules in it.
        is_merged = self.depth is not None and path not in self.opened
        return path if is_merged and len(parts) < (self.depth or 0) else None
