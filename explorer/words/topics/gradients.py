"""What claims say of gradient calls."""

from explorer.text.language import later

TEXTS = {
    # Row 8
    "two_outputs": later("net that returns loss and logits, has_aux=False"),
    "added_up": later("net that returns loss + logits"),
    # Row 75
    "sign": later("gradient of a straight-through sign"),
    "sampler as printed": later("gradient of the guide's sampler, as printed"),
    "sampler as meant": later("gradient of the sampler that returns a tuple"),
    "sampler without": later("gradient of the sampler without a bprop"),
    "mindspore-graph": later("graph"),
    "mindspore-tape": later("tape"),
    "tuple_and_another_draw": later(
        "Return a tuple from bprop, one gradient an input. Draw before the gradient call: in"
        " {styles} the gradient belongs to another draw than the outputs that you hold."
    ),
    # Row 80
    "has_aux one output": later("has_aux=True, one output"),
    "has_aux a tuple of one": later("has_aux=True, a tuple of one"),
    "has_aux two outputs": later("has_aux=True, two outputs"),
    "refused_differently": later(
        "Catch {errors}: the styles refuse one output differently; a tuple of one passes where it"
        " is not refused, with nothing besides the loss."
    ),
    # Row 81
    "with_aux": later("gradient with has_aux=True"),
    "stopped": later("gradient with stop_gradient on the output"),
    "neither": later("gradient with neither"),
    "stopped_early": later("gradient with stop_gradient on what the loss is made of"),
    # Row 82
    "position": later("positions {form}"),
    "weights ParameterTuple": later("weights ParameterTuple"),
    "weights Parameter": later("weights Parameter"),
    "weights list": later("weights list"),
    "weights tuple": later("weights tuple"),
    "weights string": later("weights string"),
    "weights Tensor": later("weights Tensor"),
    "weights empty list": later("weights empty list"),
    "weights one Parameter twice": later("weights one Parameter twice"),
    "weights another net's Parameter": later("weights another net's Parameter"),
    "passing": later(
        "Check positions and weights yourself; what passes without a word in a style at least:"
        " {forms:,}."
    ),
    "value_and_gradient": later("value and gradient of the sum of squares"),
    "by_bprop": later("gradient of a sign whose bprop lets gradients past"),
}

ADVICE = {
    (1, "holds"): later("Unpack the result as (dx, (logits,))."),
    (2, "holds"): later("Unpack the result as (dy, (logits,))."),
    (3, "holds"): later("Unpack the result as ((dx, dy), (logits,))."),
    (4, "holds"): later("Unpack the result as ((dfc.weight,), (logits,))."),
    (5, "holds"): later("Unpack the result as ((dx, (dfc.weight,)), (logits,))."),
    (6, "holds"): later("Unpack the result as (((dx, dy), (dfc.weight,)), (logits,))."),
    (7, "holds"): later("Unpack the result as dx."),
    (8, "holds"): later(
        "Return the loss alone, or use has_aux=True: every further output is added to what is"
        " differentiated."
    ),
    (9, "holds"): later("Give a grad_position, weights, or both."),
    (10, "holds"): later(
        "Unpack as `(outputs, gradients)`: the gradients nest as those of grad do, without the"
        " auxiliary outputs."
    ),
    (11, "holds"): later("Write grad(net, position, weights) instead: the numbers are the same."),
    (75, "tuple"): later("Return a tuple from bprop, one gradient an input."),
    (81, "holds"): later(
        "Use has_aux=True where you want the output back, stop_gradient where the gradient is"
        " enough; stop the output, not what the loss is made of."
    ),
    (89, "torch.func"): later("Replace value_and_grad by torch.func.grad_and_value, and back."),
    (90, "both"): later(
        "Write value_and_grad(net, None, weights): grad(net) returns the gradient of the first input"
        " alone."
    ),
    (91, "check it"): later("Compare what a bprop returns with differences: nothing checks it."),
}
