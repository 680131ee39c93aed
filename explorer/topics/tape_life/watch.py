"""Saved tensors counted while a tape runs, through packed tensors that die with the tape's hold on them."""

import weakref
from collections import Counter
from typing import Any


class PackedTensor:
    """One saved tensor, packed for a tape by its saved-tensor hooks.

    It lives as long as the tape needs the tensor. ``address`` is where its storage lies, ``size``
    that storage's length in bytes.
    """

    def __init__(self, tensor: Any, address: int, size: int) -> None:
        self.tensor = tensor
        self.address = address
        self.size = size


class Watch:
    """Counts the boxes that live, and the bytes of the storages in them.

    ``own`` are the addresses of inputs and parameters, whose bytes the tape does not cost. ``last``
    is the operator that saved tensors are counted for in ``savers``; ``steps`` is what was kept
    after each operator of the ``phase`` that ran.
    """

    def __init__(self, own: set[int]) -> None:
        self.own = own
        # Weak, or the watch itself would keep alive what it counts.
        self.boxes: list[weakref.ref[PackedTensor]] = []
        self.steps: list[dict[str, Any]] = []
        self.savers: Counter[str] = Counter()
        self.phase = "forward"
        self.last = ""

    def pack(self, tensor: Any, address: int, size: int) -> PackedTensor:
        """A box for a saved tensor whose storage of ``size`` bytes lies at ``address``."""
        box = PackedTensor(tensor, address, size)
        self.savers[self.last] += 1
        self.boxes.append(weakref.ref(box))
        return box

    def kept(self) -> dict[str, int]:
        """How many tensors are kept now, and their bytes; a storage counts once.

        The bytes of inputs and parameters among them are counted apart.
        """
        tensors = 0
        storages: dict[int, int] = {}
        for reference in self.boxes:
            box = reference()
            if box is not None:
                tensors += 1
                # By address: several saved tensors may be views of one storage.
                storages[box.address] = box.size

        own = sum(size for address, size in storages.items() if address in self.own)
        return {
            "tensors": tensors,
            "bytes": sum(storages.values()) - own,
            "of inputs and parameters": own,
        }

    def step(self, op: str) -> None:
        """Notes what is kept now that ``op`` has run."""
        self.steps.append({"phase": self.phase, "op": op, **self.kept()})


def unpack(box: PackedTensor) -> Any:
    """The unpacking hook: the tensor that a box holds."""
    return box.tensor
