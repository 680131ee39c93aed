"""The bytes that the operators of a net save for backward on MindSpore's tape."""

from typing import Any

from explorer.engines.capture.builder import NodeDraft


class SavedBytes:
    """Counts saved bytes by operator: every storage once, for the operator that saved it first."""

    def __init__(self, nodes: list[NodeDraft]) -> None:
        self._nodes = nodes
        self._storages: set[int] = set()
        self._last: int | None = None
        self._unowned = 0

    def operator_starts(self) -> None:
        """An operator starts: tensors that are saved from now on are its own."""
        self._last = None

    def operator_made(self, number: int) -> None:
        """The operator that has started last is node ``number``."""
        self._last = number
        # What was saved while the operator ran, before its node was known, is its own.
        if self._unowned:
            self._nodes[number].saved_bytes = self._unowned
            self._unowned = 0

    def saved(self, tensor: Any) -> None:
        """Count a tensor that was saved, during an operator or right after it."""
        address = tensor.data_ptr()
        if address in self._storages:
            return
        self._storages.add(address)
        if self._last is None:
            self._unowned += int(tensor.nbytes)
        else:
            self._nodes[self._last].saved_bytes += int(tensor.nbytes)
