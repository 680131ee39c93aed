"""What the study of operators, and claims about them, say."""

from explorer.text.language import later
from explorer.topics.operators.inputs import OPERANDS
from explorer.topics.operators.kink_functions import KINKS

TEXTS = {
    # A kink's name is the docstring of its function, and an operator's is its key.
    **{f"kink {kink.name}": later(kink.where) for kink in KINKS.values()},
    **{f"operator {name}": later(name) for name in OPERANDS},
    # Names and lists
    "parties": later("{parties}"),
    "of": later("{who} {what}"),
    "by": later("{what} ({who})"),
    "call_of": later("{who} {call}"),
    "listed": later("{texts:,}"),
    "or": later("{names:or}"),
    "count": later("{count} of {of}"),
    "raises": later("raises {error}"),
    "training": later("training"),
    "inference": later("inference"),
    "first": later("first"),
    "second": later("second"),
    "window": later("size {size}, kernel {kernel}, stride {stride}"),
    "state": later("{setting}, {mode}"),
    # Settings and calls
    "way 0.3 alone": later("0.3 alone"),
    "way no argument": later("no argument"),
    "way zeros top and left, then valid": later("zeros top and left, then valid"),
    "way zeros all around, then valid": later("zeros all around, then valid"),
    "pooled_positive": later("max pooling of 0 to 8, {way}"),
    "pooled_negative": later("max pooling of −1 to −9, {way}"),
    "way zeros bottom and right, then valid": later("zeros bottom and right, then valid"),
    "way default": later("default"),
    "way by default": later("by default"),
    "way nn.CrossEntropyLoss() of one-hot labels": later("nn.CrossEntropyLoss() of one-hot labels"),
    # Columns
    "framework": later("framework"),
    "engine": later("engine"),
    "call": later("call"),
    "shape": later("shape"),
    "value": later("value"),
    "gradient": later("gradient"),
    "formula": later("formula"),
    "kink": later("kink"),
    "case": later("case"),
    "cases": later("cases"),
    "default": later("default"),
    "order": later("order"),
    "operator": later("operator"),
    "padding": later("padding"),
    "least": later("least"),
    "greatest": later("greatest"),
    "std": later("std"),
    "values": later("values"),
    "count_column": later("count"),
    "running_mean": later("running mean"),
    "momentum": later("momentum"),
    # Kinks
    "kinks": later(
        "At {differing} of {of} kinks the engines give different values or gradients; at {alike}"
        " all agree."
    ),
    "styles_differ": later(
        "{framework}'s graph and tape differ at {differing} of {of} ({kinks:;})."
    ),
    "styles_agree": later("{framework}'s graph and tape agree at all {of}."),
    "relus": later("One relu has several gradients, in every engine: {ways:,}."),
    "gradient_as": later("{gradient} as {written}"),
    "written relu": later("relu at 0"),
    "written relu_by_maximum": later("relu written maximum(x, 0)"),
    "written relu_by_clamp": later("relu written clamp(x, min=0)"),
    "written relu_by_where": later("relu written where(x > 0, x, 0)"),
    "wheres": later(
        "where(x > 0, log(x), 0) at [0, 1] has the gradient: {outside:,}; with a second where"
        " inside the log: {inside:,}."
    ),
    "gradients": later("{kink}: the gradient is {gradients:;}."),
    "gradients_and_values": later(
        "{kink}: the gradient is {gradients:;}; the value is {values:,}."
    ),
    "no_gradient": later("none, {error}"),
    "value_and_gradient": later("value {value}; {gradient}"),
    "differing_kinks": later("Kinks where the engines differ"),
    "differing_kinks_note": later(
        "Gradients. Slopes are difference quotients in float64; any number between the two is a"
        " subgradient."
    ),
    "in_mindspore": later("in MindSpore"),
    "slope_left": later("slope left"),
    "slope_right": later("slope right"),
    "outside": later("outside the slopes"),
    "nobody": later("nobody"),
    "alike": later("alike"),
    "unlike": later("NO"),
    "corners": later("Corners: the slope jumps"),
    "ties": later("Ties: several elements are the greatest"),
    "steep": later("Steep or undefined: the slope is infinite, or there is none"),
    "dead": later("Dead branches and NaN: what is not taken, or not a number"),
    "kinks_chart": later("Where the two frameworks put the gradient at a kink"),
    "kinks_chart_note": later(
        "Both are subgradients when they lie between the slopes. NaN and infinite gradients are"
        " in the table only."
    ),
    "at": later("{function} at {x:g}"),
    "element": later("{kink}, element {number}"),
    # Dropout
    "bare_number": later("Dropout(0.3), with no name for the number, keeps: {kept:,}."),
    "dropout_parameters": later(
        "MindSpore's Dropout takes {parameters}: p=0.3 keeps {by_rate:.1%} and keep_prob=0.7"
        " keeps {by_share:.1%}, from one seed."
    ),
    "draws": later(
        "{framework}: the mean of {draws} dropouts is {least:.3f} to {most:.3f} of what went in;"
        " setting the seed again, {existing}, and {new}."
    ),
    "existing repeats": later("a layer that exists repeats its mask"),
    "existing draws_anew": later("a layer that exists does not repeat its mask"),
    "new repeats": later("a new one repeats that of the first"),
    "new draws_anew": later("a new one does not repeat that of the first"),
    "mask_in": later("Dropout's backward has its forward's mask and scale in {engines}."),
    "mask_not_in": later(
        "Dropout's backward has its forward's mask and scale in {engines}, not in {without}."
    ),
    "no_engine": later("no engine"),
    "dropout_table": later("Dropout: the share that survives, and what becomes of a 1"),
    "asked_for": later("asked for"),
    "draws_table": later("Dropout: expectation and seeds"),
    "draws_column": later("draws"),
    "least_mean": later("least mean / input"),
    "same_layer": later("same layer repeats after seed"),
    "new_layer": later("new layer repeats"),
    # Batch norm
    "states": later(
        "The {states} states of batch norm in {library} do {kinds} different things: {things:;}."
    ),
    "statistics": later("{used} statistics, running ones {moved}"),
    "uses batch": later("batch"),
    "uses running": later("running"),
    "uses neither": later("neither"),
    "running moved": later("moved"),
    "running kept": later("kept"),
    "running none": later("none"),
    "old_weights": later(
        "The weight of the old running mean, by default: {weights:,} (PyTorch's momentum is 1"
        " minus it)."
    ),
    "variances": later("The running variance takes in a batch variance that is: {variances:,}."),
    "variance unbiased": later("unbiased"),
    "variance biased": later("biased"),
    "variance neither": later("neither"),
    "states_table": later("Batch norm: every state"),
    "state_column": later("state"),
    "normalises_with": later("normalises with"),
    "running_statistics": later("running statistics"),
    "greatest_gradient": later("greatest |dx| of image 0"),
    "graph_is_tape": later("graph = tape"),
    "momentum_of": later("momentum {momentum}"),
    "momenta_table": later(
        "Batch norm: running mean after one step from {start}; the batch's is {batch}"
    ),
    "momentum_chart": later("Batch norm's momentum: running mean after one step"),
    "momentum_note": later(
        "Channel 2 starts at {start:g}; the batch's mean is {batch:.3g}. Each framework is given"
        " the same momentum."
    ),
    # Shapes and borders
    "transposes": later("Transposing a (1, 2, 3, 4) tensor {outcomes:;}."),
    "gives": later("gives {shape}"),
    "outcome": later("{outcome}: {calls:,}"),
    "pools": later("Max pooling of 0..8, window 2, stride 2, {way}: {pooled:,}."),
    "odd_zeros": later(
        '{library}\'s convolution with "same" puts the odd zero after (right, bottom) in {after}'
        " cases and before (left, top) in {before}."
    ),
    "odd_zeros_and_refusals": later(
        '{library}\'s convolution with "same" puts the odd zero after (right, bottom) in {after}'
        " cases and before (left, top) in {before}; refuses {refused} of {of} settings ({why})."
    ),
    "uneven": later("With padding=1 and one zero too many, {frameworks} use: {uses}."),
    "windows": later("{windows:;}"),
    "zeros_of": later("{window}: {before} before, {after} after"),
    "sizes": later(
        "Without padding the output size is floor((size - kernel) / stride) + 1 in {right:,} cases."
    ),
    "transposes_table": later("Transposing a (1, 2, 3, 4) tensor of 0..23"),
    "first_elements": later("first elements"),
    "pools_table": later("Max pooling of 0..8 in 3 x 3, window 2, stride 2"),
    "sides_table": later("Convolution: where an odd zero goes"),
    "even": later("even"),
    "odd_after": later("odd, after"),
    "odd_before": later("odd, before"),
    "refused": later("refused"),
    "zeros_table": later('Convolution: zeros that "same" adds'),
    "zeros_note": later(
        "[before, after], read off a kernel that copies the first element of its window."
    ),
    "sizes_table": later("Output size without padding: convolution, max pool, average pool"),
    # Defaults
    "default dropout": later("dropout without an argument keeps"),
    "default dropout(0.3)": later("dropout(0.3) keeps"),
    "default convolution": later("3 x 3 convolution of 5 x 5 gives"),
    "default has_bias": later("a convolution has a bias"),
    "default momentum": later("weight of the old running mean in batch norm"),
    "default batch_norm_epsilon": later("batch norm's epsilon"),
    "default layer_norm_epsilon": later("layer norm's epsilon"),
    "default convolution weight": later("convolution weights may be"),
    "default convolution bias": later("convolution biases may be"),
    "default dense weight": later("dense weights may be"),
    "default dense bias": later("dense biases may be"),
    "default embedding": later("standard deviation of an embedding"),
    "differing": later("Default that differs: {default}: {values:,}."),
    "zeros": later("zeros"),
    "no_candidate": later("none of the candidates"),
    "convolution weight": later("convolution weight"),
    "convolution bias": later("convolution bias"),
    "dense weight": later("dense weight"),
    "dense bias": later("dense bias"),
    "within": later("within [{least:.4f}, {greatest:.4f}], {drawn_from}"),
    "initial": later("Default {part} (sqrt k = {bound:.4f}): {values:,}."),
    "gelu": later(
        "GELU's two formulas are up to {apart:.1e} apart; when nothing is said, {taken:;}."
    ),
    "gelu exact": later("{who} {call} is the exact one"),
    "gelu tanh": later("{who} {call} is the tanh one"),
    "defaults_table": later("Defaults side by side"),
    "initial_table": later("Default initial values"),
    "p_of": later("p of {distribution}"),
    "initial_note": later(
        "k = 1 / fan in. p-values of Kolmogorov-Smirnov tests: near 0 rules the distribution out."
    ),
    "density_chart": later("Default weights of a convolution"),
    "weight_in_sqrt_k": later("weight / sqrt k"),
    "density": later("density"),
    "density_note": later(
        "In units of sqrt k = 1 / sqrt(fan in). Glorot's bound depends on the fan out too."
    ),
    "gelu_table": later("GELU: which formula"),
    "slope": later("slope at -2"),
    "formula exact": later("exact"),
    "formula tanh": later("tanh"),
    "cross_entropy_table": later(
        "Cross entropy of the logits [[2, -1, 0.5], [0, 3, -2]] and the labels [0, 2]"
    ),
    # Equal settings
    "gradients_agree": later(
        "With equal settings {agreeing} of {compared} {order} derivatives agree with {reference}'s."
    ),
    "gradients_agree_but": later(
        "With equal settings {agreeing} of {compared} {order} derivatives agree with"
        " {reference}'s, but not those of {differing:;}."
    ),
    "gradients_agree_where_defined": later(
        "With equal settings {agreeing} of {compared} {order} derivatives agree with"
        " {reference}'s; there are none of {undefined:;}."
    ),
    "gradients_agree_but_where_defined": later(
        "With equal settings {agreeing} of {compared} {order} derivatives agree with"
        " {reference}'s, but not those of {differing:;}; there are none of {undefined:;}."
    ),
    "outputs same same": later(
        "One net with given weights gives the same outputs at every call in inference{distance},"
        " and the same ones in training ({engines})."
    ),
    "outputs same other": later(
        "One net with given weights gives the same outputs at every call in inference{distance},"
        " and different ones in training ({engines})."
    ),
    "outputs other same": later(
        "One net with given weights gives different outputs at every call in inference{distance},"
        " and the same ones in training ({engines})."
    ),
    "outputs other other": later(
        "One net with given weights gives different outputs at every call in inference{distance},"
        " and different ones in training ({engines})."
    ),
    "distance": later(", {difference} from {reference}"),
    "gradients_table": later("Gradients with equal settings"),
    "gradients_note": later(
        "Of the sum of the squared output. Greatest difference from {reference}, relative to the"
        " greatest number."
    ),
    "outputs_table": later("One net, given weights: outputs of repeated calls"),
    "repeats": later("{mode} repeats"),
    "from": later("{mode} from {reference}"),
    # Rows 40 and 51
    "outputs_of_calls": later("outputs of {calls} calls in inference"),
    "equal": later("equal"),
    "not_equal": later("not equal"),
    "greatest_in_inference": later("greatest relative difference from {reference} in inference"),
    "greatest_in_training": later("greatest relative difference from {reference} in training"),
    "derivatives_agree": later("{order} derivatives that agree with {reference}'s"),
    "derivatives_differ": later("{order} derivatives that differ"),
    "derivatives_undefined": later("{order} derivatives that are not defined"),
    "mask_is_gradient": later("dropout's gradient is its mask"),
    # Rows 41 to 43
    "share_kept": later("share of {ones:,} ones kept by {setting}"),
    "documentation": later("documentation of Dropout"),
    "number_of_states": later("number of states"),
    "number_of_settings": later("number of settings"),
    "against": later("outputs and gradients of {one} against {other}"),
    "the_same": later("the same"),
    "others": later("others"),
    "moving": later("running statistics move in"),
    "of_the_batch": later("statistics of the batch are used in"),
    "mean_after_step": later("running mean after one step with momentum {momentum}"),
    "weight_of_old": later("weight of the old mean by default"),
    # Rows 44 to 48
    "of_shape": later("shape {shape}"),
    "swapping": later("transposes that swap two axes"),
    "pool_same": later('max pooling, "same"'),
    "settings_alike": later("settings that give the same"),
    "without_same": later('PyTorch\'s pooling has no "same": for these figures use {ways:or}.'),
    "printed_lines": later("the printed lines"),
    "lines_as_meant": later("the lines as meant"),
    "zeros_then_pool": later("zeros at the top and left, then no padding"),
    "odd_zero_of_same": later('odd zero with "same"'),
    "odd_zero_of_a_number": later("odd zero with padding=1"),
    "sides": later("right/bottom {after} times, left/top {before} times"),
    "sides_refused": later(
        "right/bottom {after} times, left/top {before} times, {refused} settings refused"
    ),
    "strided": later("kernel 3, stride 2, {way}"),
    "never_same": later(
        'Carry padding=n over as pad_mode="pad", padding=n, and never as "same": MindSpore'
        " gives other values {ways}."
    ),
    "missed_sizes": later(
        "sizes that the formula misses, of {cases} cases of convolution, max and average pool"
    ),
    "first_missed": later("first missed size"),
    "sizes_of": later("{window}: {sizes}"),
    # Rows 49, 50, 71 and 72
    "bound": later("sqrt k, the bound of the uniform distribution"),
    "start weight": later("initial values of the weight"),
    "start bias": later("initial values of the bias"),
    "start": later(
        "in [{least:.4f}, {greatest:.4f}], p = {uniform:.2g} for uniform, {normal:.2g} for normal"
    ),
    "all_zeros": later("all zeros"),
    "bias_by_default": later("bias by default"),
    "gradients_in_evaluation": later("gradients of weight and bias in evaluation"),
    "weight_and_bias": later("weight and bias"),
    "after_a_step": later("weight and bias after a step of SGD in evaluation"),
    "as_in_training": later("output in evaluation is that of training mode"),
    "starts": later("initial values of {weights}"),
    "start_and_std": later("in [{least:.3g}, {greatest:.3g}], std {std:.3g}"),
    "ratio": later("ratio of the standard deviations of MindSpore and PyTorch, {layer}"),
    "norms_apart": later("normalisations that start differently"),
    "batch norm": later("batch norm"),
    "layer norm": later("layer norm"),
    "group norm": later("group norm"),
    "set_by_hand": later("Leave Conv and Dense as they are, and set by hand: {layers:,}."),
    # Row 77
    "device": later("device here"),
    "ascend_dtypes": later("dtype of the result of {operators:,}"),
    "ascend_strides": later("width of the result by stride of {operators:,}"),
}

ADVICE = {
    (40, "holds"): later(
        "Copy the weights, switch both nets to inference and compare outputs first; dropout draws"
        " other masks on each side."
    ),
    (41, "will change"): later(
        "Write p= by name: it means the same in both; a bare number means keep_prob in MindSpore."
        " Once keep_prob is gone, as is announced, Dropout(0.3) will drop what it keeps."
    ),
    (41, "means keep_prob"): later(
        "Write p= by name: it means the same in both; a bare number means keep_prob in MindSpore."
    ),
    (41, "means p"): later(
        "Write p= by name: it means the same in both; a bare number means p in MindSpore."
    ),
    (42, "moving"): later(
        "track_running_stats=False is use_batch_statistics=True, which goes on moving the running"
        " statistics at inference."
    ),
    (42, "holds"): later(
        "Use use_batch_statistics=True for track_running_stats=False, None for the usual switch."
    ),
    (43, "same defaults"): later(
        "Give PyTorch 1 minus MindSpore's momentum; the defaults mean the same."
    ),
    (43, "other defaults"): later(
        "Give PyTorch 1 minus MindSpore's momentum; the defaults differ, so set it."
    ),
    (44, "holds_with_changes"): later(
        "ops.transpose takes the whole order, as permute does; where both name two axes,"
        " MindSpore now swaps them as PyTorch."
    ),
    (45, "holds"): later('Use pad_mode="same" where TensorFlow has padding="same".'),
    (87, "holds"): later("Pad by hand as PyTorch does, in pooling too."),
    (87, "zeros win"): later(
        'Write pad_mode="pad", padding=1: it pads with less than any number. A zero put in by hand'
        " is greater than what is negative."
    ),
    (46, "refused"): later('Write pad_mode="valid": the printed name is refused.'),
    (48, "holds"): later("Compute sizes without padding alike in all frameworks."),
    (49, "one distribution"): later(
        "Leave the defaults: both frameworks draw from one distribution."
    ),
    (49, "without bias"): later(
        "Leave the defaults: both frameworks draw from one distribution; ask MindSpore for the"
        " bias."
    ),
    (50, "one distribution"): later(
        "Leave the defaults: both frameworks draw from one distribution."
    ),
    (50, "without bias"): later(
        "Leave the defaults: both frameworks draw from one distribution; ask MindSpore for the"
        " bias."
    ),
    (51, "second order"): later(
        "Say every setting yourself. These operators and inputs were compared; compare your own, at"
        " ties and bounds too. For a second order, avoid the operators that have none."
    ),
    (51, "holds"): later(
        "Say every setting yourself. These operators and inputs were compared; compare your own, at"
        " ties and bounds too."
    ),
    (71, "learns"): later(
        "Freeze weight and bias with requires_grad_(False): eval() stops no gradient."
    ),
    (77, "not_checkable_here"): later(
        "Run this row on an Ascend NPU before you cast Conv, Sort and TopK to float16."
    ),
}
