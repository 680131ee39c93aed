"""Links from the operators of a tape's backward to the forward operators that they derive from."""

from collections.abc import Mapping

from explorer.engines.torch.tape_bookkeeping import Bookkeeping
from explorer.engines.torch.tape_recorder import Recorder
from explorer.engines.torch.tape_records import Origin, Record


def forward_links(
    recorder: Recorder, bookkeeping: Bookkeeping, gradients: Mapping[str, Origin]
) -> dict[int, int]:
    """The forward record of every backward one that has one, by number.

    An operator that a tape node runs derives from the operator that made the node. A sum of the
    autograd engine, and what runs between nodes, derives from what its consumer derives from; at
    the end of that stands the leaf of a gradient. ``gradients`` tells where the gradients come
    from, by name.
    """
    links = _links_by_tape(recorder, bookkeeping)
    link_of_consumer = _leaves_of_results(recorder, bookkeeping, gradients)
    # Consumers come later, so they are settled before what they read.
    for number in range(len(recorder.records) - 1, -1, -1):
        record = recorder.records[number]
        if number not in links and record.phase == "backward":
            link = link_of_consumer.get(number)
            if record.leaf is not None:
                link = record.leaf[0]
            if link is not None:
                links[number] = link
        if number in links:
            for origin in record.origins:
                link_of_consumer[bookkeeping.resolve(origin)[0]] = links[number]
    return links


def _links_by_tape(recorder: Recorder, bookkeeping: Bookkeeping) -> dict[int, int]:
    links: dict[int, int] = {}
    for number, record in enumerate(recorder.records):
        maker = _maker(recorder, record)
        if maker is None:
            continue
        shown, _ = bookkeeping.resolve((maker, 0))
        if recorder.records[shown].phase == "forward":
            links[number] = shown
        elif shown in links:
            # In a second pass the tape is that of the first: its forward is the forward's.
            links[number] = links[shown]
    return links


def _maker(recorder: Recorder, record: Record) -> int | None:
    """The record of the operator that made the tape node which ran an operator of backward."""
    if record.phase == "forward" or record.sequence is None or record.kind == "accumulate":
        return None
    return recorder.tape.maker(record.sequence)


def _leaves_of_results(
    recorder: Recorder, bookkeeping: Bookkeeping, gradients: Mapping[str, Origin]
) -> dict[int, int]:
    """The leaf that every result of a pass is the gradient of."""
    leaves: dict[int, int] = {}
    for name, origin in gradients.items():
        leaves[bookkeeping.resolve(origin)[0]] = recorder.leaves[name.removeprefix("d")]
    for head in recorder.heads:
        # A further pass started from a gradient: a nested case has one leaf, so it is that one's.
        leaves.setdefault(bookkeeping.resolve(head)[0], next(iter(leaves.values())))
    return leaves
