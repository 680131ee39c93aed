"""What is already known of a divergence: a claim with its statement, or a surprise with its title."""

from collections.abc import Iterable, Iterator

from explorer.model.alignment import Alignment, Seen
from explorer.model.known import Reference
from explorer.text.language import _, later, shipped
from explorer.text.program_name import program
from explorer.topics import claims
from explorer.words.causes import sentence
from explorer.words.messages import DOMAIN

SURPRISES = {
    "in_place_nothing": later("On the CPU's tape `add_` and `mul_` change nothing"),
    "in_place_exp": later(
        "In graph style an in-place update of a saved result spoils the gradient"
    ),
    "view_write": later("A write through `.view()` or `.T` is lost as soon as a gradient is taken"),
    "selu": later("The gradient of SELU is wrong for negative numbers"),
    "saturated_tanh": later("tanh exceeds 1, and its gradient has the wrong sign there"),
    "lost_digits": later("log1p and expm1 lose the digits that they are there for"),
    "unequal_outputs": later("Equal elements come out unequal"),
    "double_precision": later("In float64 a Python number has seven digits"),
    "single_precision_inside": later("Some operators compute float64 in single precision"),
    "label_gradient": later("A label has no gradient in `SigmoidCrossEntropyWithLogits`"),
    "masked_row": later("Softmax of a row that is masked out is 0, or nan"),
    "nan_minimum": later("`minimum(nan, 2)` is 2"),
    "power_of_zero": later("The derivative of x⁰ at 0 is nan"),
    "same_tensor_twice": later("The same tensor as two arguments: tape and graph disagree"),
    "strided_padding": later('"same" is not a padding of 1 as soon as there is a stride'),
    "layer_norm_epsilon": later("Layer norm has another epsilon"),
    "padding_index": later("`padding_idx` of MindSpore's embedding sets the initial value alone"),
    "rrelu_evaluation": later("RReLU draws its slope in evaluation too"),
    "relu_at_zero": later("ReLU has three gradients at 0, and a tie has two"),
    "slopes_at_bounds": later(
        "At the bounds of relu6, hardtanh and hardswish the gradients differ"
    ),
    "zero_norm": later("The gradient of the norm of zeros is nan"),
    "ctc_gradient": later("The gradient of CTC loss is that by the logits before a log-softmax"),
    "loss_reduction": later("A loss that is not reduced is differentiated as its sum"),
}
"""The titles of the surprises that a divergence or a convention may be, by the names of their reproducers.

They are those of the documentation's page.
"""


def known_line(references: Iterable[Reference]) -> str:
    """All that is known of a divergence, in a line; "" for nothing."""
    texts = list(map(reference_text, references))
    return _("Known: {what}").format(what=_("; ").join(texts)) if texts else ""


def reference_text(reference: Reference) -> str:
    """A claim with its statement and the command that shows it, or a surprise with its title."""
    if reference.kind == "surprise":
        text = _("surprise “{title}” (documentation, page “Surprises”)")
        return text.format(title=title(reference))
    text = _("claim {number}: {statement} (`{command}`)")
    return text.format(
        number=reference.name,
        statement=title(reference),
        command=f"{program()} claims {reference.name}",
    )


def title(reference: Reference) -> str:
    """What a claim states, or the title of a surprise."""
    if reference.kind == "surprise":
        return _(SURPRISES[reference.name])
    statement = shipped(claims()[int(reference.name)].statement, DOMAIN)
    return statement.rstrip(".。")


def reasons(one: Seen, alignment: Alignment) -> Iterator[str]:
    """The cause of a divergence in a sentence, and what is known of it, as far as there is any."""
    if one.cause is not None:
        yield sentence(one.cause, (alignment.left, alignment.right))
    if one.known:
        yield known_line(one.known)
