"""What the API gives of a divergence: its cause, where, and how that is known; what was known before."""

from typing import Literal

import msgspec

from explorer.model.causes import Cause, Form, Mend, Proven
from explorer.model.divergence import End
from explorer.model.graph import Arguments
from explorer.model.known import Reference
from explorer.text.clean import clean
from explorer.words.causes import mend_texts, sentence
from explorer.words.known import reference_text, title


class Known(msgspec.Struct, frozen=True):
    """A claim of the migration guides, or a surprise of the documentation, that is about a divergence.

    As text it has the title, and where more is to be read.
    """

    reference: Reference

    @property
    def kind(self) -> Literal["claim", "surprise"]:
        """Which of the two it is."""
        return self.reference.kind

    @property
    def name(self) -> str:
        """The number of a claim; of a surprise the name of its program in docs/surprises."""
        return self.reference.name

    @property
    def title(self) -> str:
        """What the claim states, or the heading of the surprise."""
        return clean(title(self.reference))

    def __str__(self) -> str:
        return clean(reference_text(self.reference))

    def __repr__(self) -> str:
        return f"<Known: {self}>"


class FoundCause(msgspec.Struct, frozen=True):
    """What explains a divergence between the graphs of two ``engines``; as text, a sentence.

    ``ends`` are the two places of the divergence, the left one first: each has its ``node``, the
    user's line as its ``source``, and a reading of its ``value``. ``cause`` has all that is known.
    """

    cause: Cause
    ends: tuple[End, End]
    engines: tuple[str, str]

    @property
    def kind(self) -> Form:
        """What explains it.

        Other "arguments" or "inputs" of the op, another "operator", two ops in the opposite "order",
        something made of its "value", or an op that the other side has not ("removed", or "removed_op" where
        it is known what that does).
        """
        return self.cause.form

    @property
    def engine(self) -> str:
        """The engine whose op was changed."""
        return self.engines[0] if self.cause.side == "left" else self.engines[1]

    @property
    def own(self) -> Arguments:
        """The op's own arguments, in the place of which others give the other side's value."""
        return self.cause.own

    @property
    def arguments(self) -> Arguments:
        """The arguments that give the other side's value; empty for other kinds."""
        return self.cause.arguments

    @property
    def mends(self) -> tuple[Mend, ...]:
        """What to write in either net, as far as the table of correspondences knows it."""
        return self.cause.mends

    @property
    def code(self) -> tuple[str, ...]:
        """The same as code: "nn.GELU(approximate=False)"."""
        return tuple(mend.code for mend in mend_texts(self.cause, self.engines))

    @property
    def proven(self) -> Proven:
        """How it is known: the op was "computed_again", or by the "recorded_values"."""
        return self.cause.proven

    @property
    def greatest(self) -> float:
        """The greatest difference that the change leaves between the two values."""
        return self.cause.greatest

    @property
    def noise(self) -> float | None:
        """How far rounding moves the two values; None where it was not measured."""
        return self.cause.noise

    def __str__(self) -> str:
        return clean(sentence(self.cause, self.engines))

    def __repr__(self) -> str:
        return f"<Cause: {self}>"
