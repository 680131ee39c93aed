"""The texts of the claims about networks."""

from typing import Final

from explorer.text.language import later
from explorer.words.topics import Template

TEXTS: Final[dict[str, Template]] = {
    # Modes
    "new_cell": later("training of a new Cell"),
    "new_module": later("training of a new Module"),
    "norm_difference": later(
        "greatest difference of the frameworks in batch norm, over both modes"
    ),
    "zeros_training": later("zeros of 100 elements behind dropout, training"),
    "zeros_inference": later("zeros of 100 elements behind dropout, inference"),
    # Parameters and parts
    "parameters_in": later("parameters found in a {container}"),
    "names": later("{names:,}"),
    "itself": later("(itself)"),
    "after_add_module": later("children after add_module"),
    "after_insert_child": later("cells after insert_child_to_cell"),
    "kinds": later("kinds of data"),
    "buffer": later("buffer (register_buffer)"),
    "variable_is": later("Variable is"),
    "on_tensor": later("on Tensor, for gradients"),
    "nothing": later("nothing"),
    "requires_grad": later("requires_grad=False takes a parameter out of training"),
    "container_of_two": later("a {container} of two Parameters"),
    "registered": later("{count} registered, {gradients} gradients, output {output:g}"),
    # Limits of graph style
    "constructs": later("{constructs:,}, where at is a tensor"),
    "as_on_tape": later("value and gradient as on the tape"),
    "refused_everywhere": later("refused, on the tape too"),
    "value_refused": later("the value is refused ({error})"),
    "gradient_refused": later("the gradient is refused ({error})"),
    "value_differs": later("the value is another than on the tape"),
    "gradient_differs": later("the gradient is another than on the tape"),
    "compilations": later("compilations of {lengths} lengths of a vector"),
    "compilations_declared": later("compilations with a dynamic dimension declared"),
    "compilations_of_gradient": later("compilations of ms.grad of a cell declared so"),
    "compilations_in_a_cell": later("compilations of a cell declared so that calls ms.grad"),
    "after_change": later("output once {kind} was changed from 2 to 9"),
    "untrained tensor": later("a Tensor"),
    "untrained buffer": later("a buffer"),
    "untrained parameter": later("a Parameter(requires_grad=False)"),
    "saved": later("saved by save_checkpoint"),
    # Lines of the guides
    "line_as_printed": later("{line}, as printed, makes"),
    "line_as_meant": later("{line}, as meant, makes"),
    "variable_chooses": later("{variable} chooses among the GPUs"),
    # Precision and inference
    "dtypes": later("dtypes of dense, batch norm, dense with amp_level {level}"),
    "output_difference": later("greatest difference from PyTorch's outputs, one by one"),
    "outputs by default": later("outputs of {samples} samples, by default"),
    "outputs keeping the rest": later("outputs of {samples} samples, keeping the rest"),
    "outputs dropping the rest": later("outputs of {samples} samples, dropping the rest"),
    # Advice with values, or of several sentences
    "use_name_cells": later("Use name_cells for named_children."),
    "use_cells_and_names": later("Use cells_and_names for named_modules."),
    "use_both": later("Use name_cells for named_children, cells_and_names for named_modules."),
    "use_none": later(
        "Go through the parts by hand: no call of MindSpore lists what named_children does."
    ),
    "list_after_insert": later(
        "List the parts after insert_child_to_cell: they are not add_module's."
    ),
    "trainable_params": later(
        "Use trainable_params() for parameters(): get_parameters() has {cell_parameters} where"
        " parameters() has {parameters}."
    ),
    "index_as_on_tape": later("Read and write by tensors and masks in graph style as on the tape."),
    "run_on_tape": later("Run {constructs:,} on the tape, or index by constants there."),
    "index_by_constants": later("Index by constants in graph style, or run that part on the tape."),
    "pad": later("Pad to one length: each length is compiled anew."),
    "declare_dimensions": later(
        "Declare varying dimensions with set_inputs(Tensor(shape=[None])): one compilation."
    ),
    "declare_to_a_cell": later(
        "Declare them to a Cell that calls ms.grad: what is declared to a net does not reach"
        " ms.grad(net)."
    ),
    "write_while": later("In place of range(tensor) write a while loop."),
    "loop_over_number": later("In place of range(tensor) loop over a number known beforehand."),
    "level_silent": later(
        "Leave amp_level out where you call to_float: {levels} change it without a word."
    ),
    "level_silent_in_one": later(
        "Leave amp_level out where you call to_float: {levels} change it without a word in one"
        " style."
    ),
}

ADVICE: Final[dict[tuple[int, str], str]] = {
    (32, "holds"): later(
        "Call set_train() before you train a Cell, and eval() before you use a Module."
    ),
    (33, "holds"): later("Replace train() by set_train(True) and eval() by set_train(False)."),
    (34, "holds"): later(
        "Keep layers in CellList or SequentialCell, ModuleList or Sequential, never in a plain"
        " list."
    ),
    (36, "outdated"): later(
        "Keep what is not trained in a Parameter(requires_grad=False): row 88 has what becomes of a"
        " buffer and of a Tensor."
    ),
    (36, "without buffers"): later(
        "Keep what is not trained in a Parameter(requires_grad=False): row 88 has what becomes of a"
        " Tensor."
    ),
    (88, "a Parameter"): later(
        "Keep it in a Parameter(requires_grad=False): changes are seen in both styles, and saved."
    ),
    (74, "holds"): later(
        "Write ParameterTuple where PyTorch has ParameterList: a net with a list gives outputs, and"
        " is not trained."
    ),
    (92, "does_not_hold"): later(
        "Write nn.Conv2d with a kernel size, nn.BatchNorm2d, one name for the forward function, and"
        " CUDA_VISIBLE_DEVICES."
    ),
    (76, "refused"): later("Leave amp_level out where you call to_float: the level raises."),
    (78, "holds"): later(
        "Compare inference first; in batches, keep the default, which drops nothing, or the score"
        " lacks samples."
    ),
    (78, "default drops"): later(
        "Compare inference first; in batches, write drop_remainder=False, or the score lacks"
        " samples."
    ),
}
