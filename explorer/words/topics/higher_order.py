"""The texts of the study of higher orders, and of the claims about them."""

from explorer.text.language import later

TEXTS = {
    # Names
    "in_float64": later("PyTorch in float64"),
    "confirmed": later("float64, confirmed by central differences"),
    "the_wave": later("the wave {formula}"),
    "closed_form": later("the closed form"),
    "graph": later("graph"),
    "tape": later("tape"),
    "operator.power": later("power"),
    "operator.exponential": later("exponential"),
    "operator.square_root": later("square root"),
    "operator.quotient": later("quotient"),
    "operator.tanh": later("tanh"),
    "operator.gelu": later("gelu"),
    "operator.where": later("where"),
    "operator.sine_of_view": later("sine of view"),
    "operator.cube_of_sum": later("cube of sum"),
    "operator.cube_of_mean": later("cube of mean"),
    "operator.norm": later("norm"),
    "operator.greatest": later("greatest"),
    "operator.matrix_product": later("matrix product"),
    "operator.transpose": later("transpose"),
    "operator.concatenation": later("concatenation"),
    "operator.broadcast": later("broadcast"),
    "operator.softmax": later("softmax"),
    "operator.log_softmax": later("log softmax"),
    "operator.cross_entropy": later("cross entropy"),
    "operator.convolution": later("convolution"),
    "operator.batch_norm": later("batch norm"),
    "operator.max_pooling": later("max pooling"),
    "operator.average_pooling": later("average pooling"),
    "operator.attention": later("attention"),
    "operator.flash_attention": later("flash attention"),
    "operator.product_with_vector": later("product with vector"),
    "operator.product_with_column": later("product with column"),
    "jacrev": later("jacrev"),
    "jacfwd": later("jacfwd"),
    "vjp": later("vjp"),
    "jvp": later("jvp"),
    "vmap of grad": later("vmap of grad"),
    "vmap of grad of grad": later("vmap of grad of grad"),
    "Hessian": later("Hessian"),
    "Hessian, jacfwd of grad": later("Hessian, jacfwd of grad"),
    "Hessian, jacrev of grad": later("Hessian, jacrev of grad"),
    "Hessian, jacfwd of jacrev": later("Hessian, jacfwd of jacrev"),
    "Hessian times vector, jvp of grad": later("Hessian times vector, jvp of grad"),
    "Hessian times vector, vjp of grad": later("Hessian times vector, vjp of grad"),
    "grad of grad": later("grad of grad"),
    "jacfwd of grad": later("jacfwd of grad"),
    "by element": later("by element"),
    "with a matrix product": later("with a matrix product"),
    "with a broadcast": later("with a broadcast"),
    "with a reduction": later("with a reduction"),
    "call_of_net": later("{call}, {net}"),
    "call_in_float64": later("{call}, {net}, float64"),
    # Outcomes
    "right": later("right"),
    "wrong without a message": later("wrong without a message"),
    "refused": later("refused"),
    "off_by": later("wrong: relative error {error:.2g}"),
    "agrees": later("agrees"),
    "wrong_second": later("wrong: {comparison}"),
    "first_raises": later("{second}, although the first raises"),
    "first_changes": later("{second} where the first changes by {change}"),
    "not_asked": later("not asked, since {reason}"),
    "too_large": later("the graph of order {order} has {operators} operators already"),
    "too_slow": later("order {order} took {seconds} s"),
    "with_norm": later("{elements}, norm {norm:.5g}"),
    # Findings about nested gradients
    "of_nested": later("{net}, {who}: of {gradients} nested gradients {outcomes:;}."),
    "all_near": later(
        "{net}: all {gradients} nested gradients up to order {last} are right in"
        " {parties:,} (at most a relative {worst:.1g} from {truth})."
    ),
    "all_exact": later(
        "{net}: all {gradients} nested gradients up to order {last} are right in"
        " {parties:,} (exactly those of {truth})."
    ),
    "wrong": later(
        "{count} wrong without a message, the first by {input} at order {order}"
        " (relative error {error:.2g})"
    ),
    "wrong_not_finite": later(
        "{count} wrong without a message, the first by {input} at order {order}"
        " (not finite, or where 0 is right)"
    ),
    "by_tensor": later("{count} not those by each argument alone ({inputs} are one tensor)"),
    "refused_at": later("{count} refused, from order {order} on ({error})"),
    "left_out": later("{count} not asked by this study, from order {order} on, since {reasons}"),
    "count_right": later("{count} right"),
    "growth": later("{net}: the gradient {changes:;}."),
    "change": later("{change} in {parties:,} (orders {lowest} to {highest}: {numbers:,})"),
    "stays": later("ends with the {operators} operators that it starts with"),
    "grows": later("grows from {first} to {last} operators"),
    "shrinks": later("shrinks from {first} to {last} operators"),
    # Findings about operators and transformations
    "all_seconds": later("{who}: all {of} second derivatives of operators right."),
    "some_seconds": later("{who}: of {of} second derivatives of operators {outcomes:;}."),
    "wrong_seconds": later(
        "{count} wrong without a message ({operators:,}); that of {first} is {comparison}"
    ),
    "refused_seconds": later("{count} refused ({operators:,})"),
    "all_transformations": later("{who}: all {of} Jacobians, products and Hessians right."),
    "some_transformations": later("{who}: of {of} Jacobians, products and Hessians {outcomes:;}."),
    "wrong_calls": later("{count} wrong without a message ({names})"),
    "refused_calls": later("{count} refused with {error} ({names})"),
    "beside": later("{names} · {next}"),
    # Tables
    "derivatives.title": later("Derivatives of {net}, orders 1 to {last}"),
    "at_point": later("At x = {x}."),
    "by": later("by"),
    "order": later("order"),
    "operators_by_order.title": later(
        "Operators of the gradient of {net}, forward included, by order"
    ),
    "engine_at": later("{who} ({stage})"),
    "seconds.title": later(
        "Seconds of the first call, compiling included, and of the next ({net})"
    ),
    "first_call": later("{who}, first"),
    "next_call": later("{who}, next"),
    "seconds_of_operators.title": later(
        "Second derivatives of single operators, against the change of the first"
        " (agrees: to {share:g} of its greatest element)"
    ),
    "operator": later("operator"),
    "float": later("float"),
    "transformations.title": later(
        "Jacobians, products and Hessians of a field v and an energy e, against float64"
    ),
    "what": later("what"),
    "transformations.note": later(
        "At x = ({point:,}), in float32 unless it says float64; {formulas:;}."
    ),
    "formula.by element": later("by element: v = eˣ·sin x, e = Σv"),
    "formula.with a matrix product": later("with a matrix product: v = A·sin x, e = Σv²"),
    "formula.with a broadcast": later("with a broadcast: v = the nine xᵢ·sin xⱼ, e = Σv²"),
    "formula.with a reduction": later("with a reduction: v = x·Σsin x, e = (Σsin x)³"),
    # Charts
    "nodes_chart.title": later("Operators of the gradient of {net}"),
    "together": later("{parties}"),
    "operators": later("operators"),
    "seconds_chart.title": later("Seconds of the first call, compiling included ({net})"),
    "seconds": later("seconds"),
    "seconds_tally.title": later("Second derivatives of single operators"),
    "seconds_tally.note": later(
        "Wrong: a number is returned without a message, and it is not how the"
        " first derivative changes."
    ),
    "transformations_tally.title": later("Jacobians, products and Hessians against float64"),
    "engine": later("engine"),
    "calls": later("calls"),
    # Evidence
    "last_stage": later("operators of the last stage, orders {first} to {last} of {formula}"),
    "against_closed_form": later("value against the closed form, orders {first} to {last}"),
    "wrong_operators": later("operators whose second derivative is wrong, without a message"),
    "wrong_value": later("wrong"),
    "operators_listed": later("{operators:,}"),
    "wrong_calls_found": later("calls that return wrong numbers"),
    "call_of": later("{call} of {function}"),
    "instead_of": later("{figure} instead of {truth}"),
    "raises": later("raises {error}"),
    # Advice
    "nest_in_one": later("Nest grad in {style} style: the other loses terms without a message."),
    "nest_in": later("Nest grad in {styles:or} style."),
    "nest_nowhere": later("Do not nest grad here."),
    "by_column": later(
        "For a Hessian multiply by a matrix of one column, not by a vector: that one is right."
    ),
    "check_hessians": later("Hold every Hessian against central differences."),
}
