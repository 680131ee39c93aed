"""The steps of a training that are held: once there are many, ever fewer of the later ones as a whole."""

from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from explorer.model.results import Leaf
from explorer.model.training import Batch, TrainingStep
from explorer.numeric.summaries import few

DENSEST = 6
"""How many steps stay whole at first, as is_whole() has it."""

LAST = 2
"""So many of the last steps stay whole."""

FILLED = 0.75
"""So much of the memory is filled at most once room was made."""


def is_whole(number: int, last: int, density: int) -> bool:
    """Whether a step is kept as a whole among those up to the ``last`` one.

    The first 2 ** (density + 1) steps are, and from there on pairs of steps, as an update needs what is
    before it: half as many of twice as many steps. Those of a lower density are among those of a higher
    one. The last ones are whole too, but for a density of 0.
    """
    stride = 1 << max(0, number.bit_length() - density)
    return number % stride < 2 or (density > 0 and number > last - LAST)


class KeptSteps:
    """Steps, encoded, in at most ``memory`` bytes: whole as long as there is room.

    Then a few elements and figures of each tensor are left of most steps, so that there is room again. Once
    the figures fill the memory too, ``is_full``: of later steps the losses alone are kept.
    """

    def __init__(self, memory: int) -> None:
        self.is_full = False
        self._memory = memory
        self._bytes = 0
        self._density = DENSEST
        self._steps: dict[int, bytes] = {}
        self._whole: set[int] = set()

    def __iter__(self) -> Iterator[msgspec.Raw]:
        """All steps, in order."""
        return map(msgspec.Raw, self._steps.values())

    def add(self, step: TrainingStep) -> tuple[bytes, bool]:
        """Keep a step: what it is encoded as, and whether earlier ones have become others by that."""
        if self.is_full:
            step = _losses_of(step)
        # Encoded at once, which takes a fraction of the memory.
        content = msgspec.msgpack.encode(step)
        self._steps[step.number] = content
        self._whole.add(step.number)
        self._bytes += len(content)
        is_too_much = self._bytes > self._memory and not self.is_full
        if is_too_much:
            self._make_room(step.number)
        return content, is_too_much

    def _make_room(self, last: int) -> None:
        for density in range(self._density, -1, -1):
            self._density = density
            for number in sorted(self._whole):
                if not is_whole(number, last, density):
                    self._shorten(number)
            if self._bytes <= FILLED * self._memory:
                return
        self.is_full = True

    def _shorten(self, number: int) -> None:
        """Leave of each tensor of a step a few elements and figures of all."""
        content = self._steps[number]
        step = msgspec.msgpack.decode(content, type=TrainingStep)
        self._steps[number] = msgspec.msgpack.encode(_few_of(step))
        self._bytes += len(self._steps[number]) - len(content)
        self._whole.discard(number)


def _few_of(step: TrainingStep) -> TrainingStep:
    def leaves(some: tuple[Leaf, ...]) -> tuple[Leaf, ...]:
        return tuple(Leaf(leaf.name, few(leaf.value)) for leaf in some)

    batches = tuple(
        replace(
            it,
            data=leaves(it.data),
            gradients=leaves(it.gradients),
            carried=leaves(it.carried),
            read=leaves(it.read),
        )
        for it in step.batches
    )
    return replace(
        step,
        kept="few",
        batches=batches,
        gradients=leaves(step.gradients),
        given=leaves(step.given),
        weights=leaves(step.weights),
        buffers=leaves(step.buffers),
        state=leaves(step.state),
        averages=leaves(step.averages),
        graph=None,
    )


def _losses_of(step: TrainingStep) -> TrainingStep:
    batches = tuple(Batch(loss=batch.loss) for batch in step.batches)
    return TrainingStep(number=step.number, kept="losses", batches=batches)
