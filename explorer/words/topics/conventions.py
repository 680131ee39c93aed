"""The texts of the study of conventions."""

from explorer.text.language import later

TEXTS = {
    # Gradient calls
    "calls.title": later("Gradient calls"),
    "calls.note": later(
        "PyTorch's tape is asked through torch.autograd.grad, which has no positions and no"
        " auxiliary outputs; an x is a tensor in what a call returns."
    ),
    "calls.vector_output": later("gradient of an output with two elements"),
    "calls.integer_output": later("gradient of argmax, an integer"),
    "calls.unused_input": later("gradient by an input that is not used"),
    "calls.integer_input": later("gradient by an integer input"),
    "calls.number_input": later("gradient by a Python number"),
    "calls.numpy_input": later("gradient by a numpy array"),
    "calls.dict_input": later("gradient by a dict of tensors"),
    "calls.complex_input": later("gradient of |z|² at 1 + 2i, as real and imaginary part"),
    "calls.aliased_input": later("gradient of sum(a·b) by a, one tensor [1, 2] as both"),
    "calls.default_position": later("gradient where no position is named"),
    "calls.tuple_of_one": later("what the position (0,) returns"),
    "calls.reversed_positions": later("gradients by the positions (1, 0)"),
    "calls.negative_position": later("gradient by the position −1"),
    "calls.repeated_position": later("gradients by the positions (0, 0)"),
    "calls.two_outputs": later("gradient of two outputs without has_aux"),
    "calls.has_aux": later("what has_aux returns for two outputs"),
    "calls.has_aux_of_one_output": later("has_aux where there is one output"),
    "calls.value_and_gradient": later("what the call for value and gradient returns"),
    "calls.pulled_back_twice": later("one forward pulled back twice"),
    "calls.branch_on_value": later("Python's if on a value in the function"),
    "calls.written_in_place": later("zero written over an element in the function"),
    "calls.stopped": later("gradient of sum(x · stop_gradient(x))"),
    "calls.second_order": later("gradient of a gradient, by default settings"),
    # What functions give
    "values.title": later("Functions where nothing is said"),
    "values.note": later("Of tensors and functions by their shortest calls."),
    "values.integers": later("dtype of a tensor of Python's integers"),
    "values.float64_array": later("dtype of a tensor of numpy's float64"),
    "values.quotient_of_integers": later("dtype of integers / integers"),
    "values.integer_and_float": later("dtype of integers + 1.5"),
    "values.integer_and_half": later("dtype of integers + float16"),
    "values.sum_of_integers": later("dtype of the sum of int32"),
    "values.sum_of_bools": later("dtype of the sum of bools"),
    "values.mean_of_integers": later("mean of the integers 1 and 2"),
    "values.divided_by_zero": later("the integers 1 and 2 // 0"),
    "values.remainder_of_negative": later("−7 % 3"),
    "values.half_rounded": later("0.5, 1.5 and 2.5 rounded"),
    "values.index_out_of_bounds": later("element 4 of 1, 2, 3, 4"),
    "values.negative_index_out_of_bounds": later("element −5 of 1, 2, 3, 4"),
    "values.argmax_of_ties": later("argmax of 1, 3, 3, 2"),
    "values.argsort_of_ties": later("argsort of 1, 3, 3, 2"),
    "values.median_of_four": later("median of 1, 2, 3, 4"),
    "values.std_of_four": later("standard deviation of 1, 2, 3, 4"),
    "values.clipped_to_crossed_bounds": later("1, 2, 3, 4 clipped to at least 3 and at most 2"),
    "values.gelu": later("gelu of 1"),
    "values.leaky_relu": later("leaky relu of −1"),
    "values.softmax_axis": later("first row of a softmax of 0 to 7, shaped 2 × 2 × 2"),
    "values.cross_entropy_reduced": later("shape of the cross entropy of two examples"),
    # Layers
    "layers.title": later("Layers where nothing is said"),
    "layers.note": later(
        "The layers of torch.nn and mindspore.nn; of a framework without layers, those of the"
        " library that is most used on it."
    ),
    "layers.layer_norm_epsilon": later("ε of layer norm"),
    "layers.batch_norm_epsilon": later("ε of batch norm"),
    "layers.group_norm_epsilon": later("ε of group norm"),
    "layers.batch_norm_weight_of_batch": later("weight of a new batch in the running mean"),
    "layers.batch_norm_variance": later(
        "variance of 0 and 4 that enters the running one: 4 by n, 8 by n − 1"
    ),
    "layers.starts_in_training": later("a new layer is in training mode"),
    "layers.dropout_of_0_3": later("share that Dropout(0.3) drops"),
    "layers.dense_weight": later("shape of the weight of a dense layer from 3 to 2"),
    "layers.dense_bias": later("a dense layer's bias begins with zeros"),
    "layers.conv_weight": later("shape of the weight of a convolution of 5 × 4 from 3 to 2"),
    "layers.conv_bias": later("a convolution has a bias"),
    "layers.conv_output": later("size that a convolution of 3 × 3 makes of 5 × 5"),
    "layers.max_pool_output": later("size that a max pool of 2 × 2 makes of 4 × 4"),
    # Optimizers
    "optimizers.title": later("Optimizers where nothing is said"),
    "optimizers.note": later(
        "The optimizers of torch.optim and mindspore.nn; of a framework without optimizers, those"
        " of the library that is most used on it. Steps are those of a weight with the gradient 1"
        " and the rate 0.1."
    ),
    "optimizers.rate": later("learning rate of Adam"),
    "optimizers.adam_epsilon": later("ε of Adam"),
    "optimizers.adamw_decay": later("decoupled weight decay of Adam"),
    "optimizers.rmsprop_decay": later("decay of RMSProp"),
    "optimizers.rmsprop_first_step": later("first step of RMSProp"),
    "optimizers.adagrad_start": later("first accumulator of Adagrad"),
    "optimizers.adagrad_first_step": later("first step of Adagrad"),
    "optimizers.momentum_second_step": later("second step of SGD with the momentum 0.9"),
    "optimizers.in_place": later("a step writes into the weight itself"),
    # Guide 003
    "functional.title": later("What guide 003 states of functional gradients"),
    "functional.note": later(
        "Tried with ms.grad and ms.jit, with torch.func and torch.compile, and with the like of them."
    ),
    "functional.reused": later("what grad makes of a function takes any inputs"),
    "functional.value_and_gradient": later("one call makes a function of value and gradient"),
    "functional.extra_output": later("an extra output shifts the gradient, unless has_aux is used"),
    "functional.training_step": later(
        "value and gradient, and then the optimizer, are one training step"
    ),
    "functional.compiled_step": later("a compiled step keeps its numbers"),
    "functional.compiled_state": later("a function with a state can be compiled whole"),
    # Kinks
    "kinks.title": later("Gradients at kinks"),
    "kinks.note": later(
        "A kink is a point at which a derivative is a choice; the study of operators has the slopes"
        " on both sides."
    ),
    # Columns and cells
    "choice": later("choice"),
    "agree": later("all agree"),
    "goes_with": later("{framework} goes with"),
    "everybody": later("everybody"),
    "nobody": later("nobody"),
    "split": later("differs by style"),
    "of": later("{who}: {what}"),
    "parts": later("{parts:;}"),
    "listed": later("{names}"),
    # Findings
    "shared": later("On {shared} of {of} choices all that were asked agree."),
    "not_asked": later(
        "{framework} was not asked: it joins where it is installed. `doctor` says how to install it."
    ),
    "alike": later(
        "Of the {of} choices that {framework} was asked about it shares, in all styles, {ways:,}."
    ),
    "with": later("{n} with {who}"),
    "with_none": later("{n} with none of them"),
    "parted": later("{group}: {who} differ in {n} of them ({whats:,})."),
    "referee": later("There {framework} goes {ways:;}."),
    "side": later("with {who} in {n} ({whats:,})"),
    "side_none": later("wholly with none of them in {n} ({whats:,})"),
}
