"""The texts of the study of stages, and of the claims about them."""

from explorer.text.language import later

TEXTS = {
    # What is counted
    "calls": (later("{n} call"), later("{n} calls")),
    "kernels": (later("{n} kernel"), later("{n} kernels")),
    "graphs": (later("{n} graph"), later("{n} graphs")),
    "operators": (later("{n} operator"), later("{n} operators")),
    # Names
    "the_net": later("the net"),
    "the_scenario": later("the scenario"),
    "a_branch": later("a branch on a value"),
    "form.torch": later("PyTorch's tape"),
    "form.mindspore-tape": later("MindSpore's tape"),
    "form.mindspore-graph": later("MindSpore's graph"),
    "joint_graph": later("PyTorch's joint graph"),
    "round": later("{name_of_pass}, round {round}: {step}"),
    # Findings
    "gradient": later(
        "The gradient of {net}, written as {written}, ends with {operators}"
        " operators, {forward} of the forward and {backward} of the backward,"
        " besides {bookkeeping} nodes of bookkeeping, and runs as {kernels}."
    ),
    "passes": later(
        "Of {passes} passes and steps of the compiler {changed} change an"
        " operator; the program is largest after “{largest}”, with {nodes} nodes"
        " in {graphs}, and ends with {last} in {last_graphs}."
    ),
    "optimizer_inside": later(
        "With the optimizer inside, one graph holds {forward} of the forward,"
        " {backward} of the backward and {update} of the update, and runs as"
        " {kernels}."
    ),
    "optimizer_beside_gradient": later(
        "With the optimizer inside, one graph holds {forward} of the forward,"
        " {backward} of the backward and {update} of the update, and runs as"
        " {kernels}; the gradient with respect to the input and the weights alone"
        " has {alone} operators, {alone_update} of an update."
    ),
    "same_graph": later(
        "MindSpore compiles the same graph of {where} for the negated inputs"
        " ({one} and {other} operators), and {again} of 2 calls with other values"
        " compile again."
    ),
    "another_graph": later(
        "MindSpore compiles another graph of {where} for the negated inputs"
        " ({one} and {other} operators), and {again} of 2 calls with other values"
        " compile again."
    ),
    "same_nodes": later(
        "{where} leaves the same nodes for the negated inputs ({one} and {other}) on {forms}."
    ),
    "other_nodes": later(
        "{where} leaves other nodes for the negated inputs ({one} and {other}) on {forms}."
    ),
    "loop_grows": later(
        "{form} of a loop grows from {first} to {last} nodes when its length, a"
        " value, goes from {shortest} to {longest}."
    ),
    "loop_stays": later(
        "{form} of a loop stays at {last} nodes when its length, a value, goes"
        " from {shortest} to {longest}."
    ),
    "no_joint_graph": later("PyTorch's joint graph of that loop cannot be captured: {error}."),
    # Tables
    "gradient_passes.title": later("The gradient through the passes"),
    "training_passes.title": later("A whole training step through the passes"),
    "pass": later("pass"),
    "forward": later("forward"),
    "backward": later("backward"),
    "update": later("update"),
    "bookkeeping": later("bookkeeping"),
    "graphs_column": later("graphs"),
    "appeared": later("appeared"),
    "vanished": later("vanished"),
    "what_it_is": later("what it is"),
    "unchanged": later(
        "Passes that changed an operator; {unchanged} more left all operators as they were."
    ),
    "and_others": later("{named}, {others} others"),
    "means.bootstrap": later("the call alone, before anything is known of it"),
    "means.type_inference": later("every function that the call reaches, with types and shapes"),
    "means.auto_monad": later("effects put in order"),
    "means.meta_fg_expand": later(
        "the derivative written out: a forward closure ▸ and a backpropagator ◂ for each operator"
    ),
    "means.renormalize": later("types and shapes inferred anew"),
    "means.a_1": later("calls inlined, and what cancels removed"),
    "means.cse": later("equal expressions merged"),
    "means.merge_addn": later("nested sums merged"),
    "means.updatestate_depend_eliminate": later("order dropped where nothing depends on it"),
    "means.updatestate_loads_eliminate": later("order dropped where nothing depends on it"),
    "means.validate": later("what goes to the backend"),
    "values.title": later("What depends on the values"),
    "program": later("program"),
    "form": later("form"),
    "for_inputs": later("for the inputs"),
    "for_negatives": later("for their negatives"),
    "same": later("same"),
    "values.note": later(
        "A tape holds what ran for these values. A graph holds what may run:"
        " both sides of a branch."
    ),
    "size_of_graph": later("{forward} forward, {backward} backward, {graphs}"),
    "size_of_joint": later("{forward} forward, {backward} backward"),
    "loops.title": later("A loop: one body in the graph, unrolled on the tape"),
    "while_times": later("while, {length} times"),
    "for_times": later("for, 4 times"),
    "captured": later("captured"),
    "loops.note": later(
        "Nodes of the tape, or operators of the graph, forward and backward."
        " “while” runs on a value, “for” on a constant, which a compiler unrolls"
        " too."
    ),
    # Charts
    "gradient_chart.title": later("Nodes after each pass: a gradient"),
    "training_chart.title": later("Nodes after each pass: a training step"),
    "nodes": later("nodes"),
    "chart.note": later(
        "The largest is {nodes} nodes after “{after}”. Only passes that changed something."
    ),
    "loop_chart.title": later("Nodes of a loop whose length is a value"),
    "turns": later("turns of the loop"),
    "from_to": later("{form}: from {first} to {last}"),
    # Evidence
    "graph_for_two": later("graph for two inputs, also of a branch on a value"),
    "the_same": later("the same"),
    "not_the_same": later("not the same"),
    "graph_of_branch": later("graph of the branch"),
    "both_sides": later("{operators} operators in {graphs} graphs, with both sides"),
    "compile_again": later("calls with other values that compile again"),
    "of_four": later("{again} of 4"),
    "first_tape": later("tape of a branch on a value, first input"),
    "second_tape": later("tape of a branch on a value, second input"),
    "calls_written": later("calls that the author wrote"),
    "in_final_graph": later("operators in the final graph"),
    "final_operators": later("{operators}: {forward} forward, {backward} backward"),
    "in_largest_pass": later("nodes in the largest pass"),
    "in_training_step": later("operators in the final graph of a training step"),
    "step_operators": later("{forward} forward, {backward} backward, {update} update"),
    "kernels_of_step": later("kernels that the training step runs as"),
}

ADVICE = {
    (27, "depends_on_style"): later(
        "Rely on one graph for all values in GRAPH_MODE alone; a tape is made anew per call."
    ),
    (28, "holds"): later(
        "Read a dumped graph from its last pass, and look for the optimizer's operators in it too."
    ),
}
