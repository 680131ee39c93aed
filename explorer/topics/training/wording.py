"""The messages of training steps, and names in words of what was measured."""

from collections.abc import Iterable, Sequence

from explorer.model.message import Message, Text
from explorer.topics import cells
from explorer.topics.messages import Messages

say = Messages(
    "training",
    in_words=frozenset(
        {
            "SGD with momentum",
            "momentum, fused",
            "momentum with dampening",
            "Nesterov momentum",
            "SGD with weight decay",
            "Adam with weight decay",
            "proximal Adagrad",
            "small operators, as printed",
            "small operators, as meant",
            "ApplyMomentum, as printed",
            "ApplyMomentum, as meant",
            "grad_centralization, rows of 16",
            "grad_centralization, rows of 2",
            "forward",
            "backward",
            "update",
            "plumbing",
            "by itself",
        }
    ),
)


def listed(names: Iterable[Text]) -> Message:
    """Names in a row, or "none"."""
    return say("names", names=some(names))


def some(names: Iterable[Text], otherwise: Text = cells.NONE) -> tuple[Text, ...]:
    """Names, or ``otherwise`` where there are none."""
    return tuple(names) or (otherwise,)


def sum_of(names: Sequence[str]) -> Text:
    """Parts of a step with a plus between them: "forward + backward"."""
    text: Text = say.named(names[0]) if names else ""
    for name in names[1:]:
        text = say("plus", first=text, second=say.named(name))
    return text
