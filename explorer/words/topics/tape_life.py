"""The texts of the study of the tape's life, and of the claims about tape and graph."""

from explorer.text.language import later

TEXTS = {
    # What is counted
    "nodes": (later("{n} node"), later("{n} nodes")),
    "tensors": (later("{n} tensor"), later("{n} tensors")),
    "saved_tensors": (later("{n} saved tensor"), later("{n} saved tensors")),
    # Outcomes
    "right": later("right, {figure}"),
    "wrong": later("wrong, {figure}"),
    "then": later("{first}, then {then}"),
    "runs": later("runs"),
    "ran": later("ran"),
    "raises": later("raises"),
    "fails_too": later("fails too"),
    "nothing": later("nothing"),
    "same_numbers": later("the same numbers"),
    "other_numbers": later("other numbers"),
    "by_way": later("{ways}: {outcome}"),
    "outcome_of": later("{outcome} ({parties:,})"),
    "saved_unobserved": later("{nodes}, and what it saved cannot be observed"),
    "nodes_and_saved": later("{nodes} and {saved}"),
    # Names of figures
    "by itself": later("by itself"),
    "inside a gradient": later("inside a gradient"),
    "inside a gradient, under _no_grad": later("inside a gradient, under _no_grad"),
    "after the forward": later("after the forward"),
    "after backward": later("after backward"),
    "after backward, the outputs dropped": later("after backward, the outputs dropped"),
    "after backward(retain_graph=True)": later("after backward(retain_graph=True)"),
    "after backward(retain_graph=True), the outputs dropped": later(
        "after backward(retain_graph=True), the outputs dropped"
    ),
    "inside the call, after the forward": later("inside the call, after the forward"),
    "after the call, the loss kept": later("after the call, the loss kept"),
    "after the call, the loss dropped": later("after the call, the loss dropped"),
    "plain": later("plain"),
    "inference_mode, then on a tape": later("inference_mode, then on a tape"),
    "every output": later("every output"),
    "extra output detached": later("extra output detached"),
    "extra output stopped": later("extra output stopped"),
    "by a": later("by a"),
    "by b": later("by b"),
    "result": later("result"),
    "operand": later("operand"),
    "tensor": later("tensor"),
    "leaf": later("leaf"),
    "module, before its backward": later("module, before its backward"),
    "module, after its backward": later("module, after its backward"),
    "leaf, before accumulation": later("leaf, before accumulation"),
    "leaf, after accumulation": later("leaf, after accumulation"),
    "input": later("input"),
    "parameter": later("parameter"),
    # Findings
    "the_net": later("The net"),
    "bytes_of": later("{bytes:,} bytes, {tensors} ({who})"),
    "kept": later(
        "{net} keeps for its backward: {sizes:;}. Inputs and parameters are"
        " among the tensors, and not in the bytes."
    ),
    "staying": later(
        "Of these it keeps, once the gradients are there and no output is held: {staying:;}."
    ),
    "under_a_compiler": later("{nodes} for the whole under a compiler"),
    "recorded": later("Its forward leaves on a tape: {nodes:;}."),
    "freed_by_pytorch": later(
        "PyTorch's tape frees {freed} of {saved} in the backward, with"
        " retain_graph=True {freed_if_retained}; {staying} of {nodes} stay while"
        " the outputs live."
    ),
    "freed_by_mindspore": later(
        "MindSpore's tape frees {freed} of {saved} when the gradient function"
        " returns; as long as the loss is held, {staying} of {nodes} and"
        " {tensors} stay, without it {tensors_without}."
    ),
    "left_by_forward": later("What one forward leaves on MindSpore's tape: {ways:;}."),
    "raises_after": later("raises {error} ({ways:,})"),
    "runs_after": later("runs ({ways:,})"),
    "backward_twice": later(
        "In general: a second backward through PyTorch's tape, by how the first"
        " was called, {outcomes:;}."
    ),
    "backward_of_little": later(
        "In general: where nothing was saved (x + 1) that second backward"
        " {plain}, and .grad is {plain_grad}; where only one part needs what is"
        " gone it {mixed}, and the other part's .grad is {mixed_grad} by then."
    ),
    "every_time": later("{gradient} every time"),
    "sums_in_grad": later(
        "In general: PyTorch's .grad is {one} after one backward and {two} after two."
    ),
    "sums_and_returns": later(
        "In general: PyTorch's .grad is {one} after one backward and {two} after"
        " two; gradients that are returned are {returned:;}."
    ),
    "in_place.wrong": later(
        "a wrong gradient without a message in {parties:,} ({figure} for {truth})"
    ),
    "in_place.raises": later("an error in {parties:,} ({figure})"),
    "in_place.right": later("the right gradient in {parties:,}"),
    "changed_in_place": later(
        "In general: changing the result of exp in place before its backward gives {outcomes:;}."
    ),
    "quoted": later("“{kind}”"),
    "hooks": later("{kinds:,}"),
    "order_of_hooks": later("In general: hooks are called in the order {orders:;}."),
    "one_tensor_twice": later(
        "In general: one tensor passed as both arguments has, by the first of"
        " them, the gradient {gradients:;}."
    ),
    "extra_output_moves": later(
        "In general: an extra output that is differentiated along moves the"
        " weight's gradient by up to {moves:;}."
    ),
    # Tables
    "questions.title": later("The same questions, put to four engines"),
    "row.recorded_nodes": later("what the forward records"),
    "row.kept_after_forward": later("kept at the end of the forward"),
    "row.kept_after_backward": later("kept at the end of the backward"),
    "row.asked_twice": later("asked for the gradient twice"),
    "row.twice_in_a_row": later("twice in a row"),
    "row.zeroing": later("zeroing"),
    "row.cut_off": later("x³ with x² cut off"),
    "row.changed_in_place": later("what was kept is changed in place"),
    "row.hooked": later("a hook that doubles"),
    "row.one_tensor_twice": later("one tensor as both arguments"),
    "row.extra_output": later("an extra output"),
    "of_compiled_graph": later("{nodes} for the whole compiled graph"),
    "kept_tensors": later("{tensors}: {bytes} bytes, and {own} of inputs and parameters"),
    "joint_and_compiled": later("the joint graph: {outcome}; compiled, backward twice: {error}"),
    "in_grad": later("in .grad: {gradients}"),
    "returned": later("returned: {gradients}"),
    "zeroed": later("zero_grad(): {none}; with set_to_none=False: {zeros}"),
    "nothing_to_zero": later("nothing to zero"),
    "moved_by": later("moved by {moved:.3g}"),
    "alive.title": later("What is alive when"),
    "alive.note": later(
        "Nodes without leaves; those of MindSpore's tape are found from the"
        " loss, and without it not at all. Bytes are of storages that only the"
        " tape keeps, each once."
    ),
    "second_backward.title": later("A second backward through PyTorch's tape"),
    "forward_of": later("{who}: a forward {way}"),
    "recorded.title": later("What a forward records, by how it is called"),
    "recorded.note": later(
        "PyTorch on the sum of cubes; MindSpore on the scenario. What a compiled"
        " net saves cannot be observed: hooks on saved tensors are for tapes."
    ),
    "saved.title": later("Saved tensors by operator"),
    "saved.note": later(
        "PyTorch's tape: by the node that keeps them. MindSpore's tape: by the"
        " operator that ran when they were saved. Graphs: forward values that the"
        " backward reads, by the operator that made them."
    ),
    "column.question": later("question"),
    "column.tape": later("tape"),
    "column.moment": later("moment"),
    "column.nodes": later("nodes"),
    "column.saved": later("saved tensors"),
    "column.bytes": later("bytes"),
    "column.own_bytes": later("bytes of inputs and parameters"),
    "column.first_with": later("first backward with"),
    "column.second": later("second backward"),
    "column.grad_after_one": later(".grad after one"),
    "column.grad_after_two": later(".grad after two"),
    "column.grad_on_tape": later(".grad is on a tape"),
    "column.forward": later("forward"),
    "column.gradient_afterwards": later("gradient afterwards"),
    "column.engine": later("engine"),
    "column.operator": later("operator"),
    # Charts
    "alive_chart.title": later("Bytes kept for the backward"),
    "alive_chart.x": later("0 to 1: the forward, operator by operator; 1 to 2: the backward"),
    "alive_chart.y": later("bytes beyond inputs and parameters"),
    "alive_chart.note": later(
        "At most {highest:,}. Tapes are watched; of graphs it is read off what"
        " the backward still needs."
    ),
    "size_of": later("{bytes:,.0f} ({who})"),
    "kept_chart.title": later("Kept at the end of the forward"),
    "made": later("made by the forward"),
    "made.note": later("Made by the forward: {sizes:,}."),
    "own": later("inputs and parameters"),
    "own.note": later("Inputs and parameters: {sizes:,}."),
    # Evidence
    "measured.moved_by_up_to": later("gradient moved by the extra output by up to"),
    "measured.as_first_alone": later("gradient is that of the first output alone with {way}"),
    "measured.call": later("call {number}, the derivative of x³ at {x}"),
    "measured.variable.as_printed": later("x.grad, as printed"),
    "measured.variable.warning": later("warning, as printed"),
    "measured.variable.leaf_grad": later("leaf.grad, with the leaf kept"),
    "measured.variable.type": later("type of Variable(…)"),
    "measured.variable.exists": later("torch.autograd.Variable exists"),
    "measured.same_tensor": later(
        "gradient of sum(a·b) with respect to a, with one tensor as a and b"
    ),
    "measured.nodes_of_forward": later("nodes that a forward leaves"),
    "measured.nodes_in_gradient": later("nodes that a forward leaves inside a gradient"),
    "measured.nodes_by_itself": later("nodes that a forward leaves by itself"),
    "measured.saves_unobserved": later("{nodes}, and what it saves cannot be observed"),
    "measured.kept": later("kept for the backward when the forward ends"),
    "measured.tensors_and_bytes": later("{tensors}, {bytes} bytes"),
    "measured.saved": later("tensors that a forward saves"),
    "measured.saved_under_no_grad": later("tensors that a forward saves under no_grad"),
    "measured.forward_leaves": later("a forward {way} leaves"),
    "measured.public_no_grad": later("a public mindspore.no_grad exists"),
    "measured.second_backward": later("a second backward"),
    "measured.second_with_retain_graph": later("a second backward with retain_graph"),
    "measured.one_function_again": later("gradients of repeated calls of one function"),
    "measured.grad_after_two": later(".grad after two backwards"),
    "measured.grad_after_zeroing": later(".grad after zero_grad()"),
    "measured.repeated_calls": later("gradients of repeated calls"),
    "measured.parameter_grad": later("a Parameter has a .grad"),
    "measured.kept_by_forward": later("kept for the backward when the forward part has ended"),
    "measured.own_and_others": later(
        "{tensors}: {bytes} bytes of its own and {others} of inputs and parameters"
    ),
    "measured.calls_of_one": later("calls of one function for the derivative of x³"),
}

ADVICE = {
    (18, "holds"): later(
        "Pass has_aux=True, or put stop_gradient around every output but the loss."
    ),
    (22, "holds"): later(
        "Make the gradient function once, outside the loop, and call it with every batch."
    ),
    (23, "holds_with_changes"): later(
        "Expect a tape in PYNATIVE_MODE only where a gradient function calls the"
        " forward, and none in GRAPH_MODE; memory is kept for the backward either"
        " way."
    ),
    (24, "recorded inside"): later(
        "Evaluate outside the gradient function, where nothing is recorded: stop_gradient around"
        " what a forward returned leaves its tape as it was."
    ),
    (25, "holds"): later(
        "Drop retain_graph when you port to MindSpore: call the gradient"
        " function again, forward included."
    ),
    (29, "lost leaf"): later(
        "Keep the leaf under a name of its own: after x = x * 2 the name x has no gradient."
    ),
    (30, "holds"): later(
        "Leave zero_grad out when you port to MindSpore, and add gradients yourself to accumulate."
    ),
    (31, "depends_on_style"): later(
        "Differentiate with one tensor at one position: where it is passed twice, pass x.copy(), in"
        " PyTorch x.detach().clone()."
    ),
    (70, "kept results"): later(
        "Count the results that the backward reads into the memory of a step: a"
        " graph keeps them within a call, and nothing from one call to the next."
    ),
}
