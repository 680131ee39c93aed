"""The texts of training steps: their study and their claims."""

from typing import Final

from explorer.text.language import later
from explorer.words.topics import Template

TEXTS: Final[dict[str, Template]] = {
    # What several texts share
    "names": later("{names:,}"),
    "both": later("{names}"),
    "plus": later("{first} + {second}"),
    "nothing": later("nothing"),
    "same": later("same"),
    "parts": later("parts"),
    "not_compared": later("not compared"),
    "framework": later("framework"),
    "verdict": later("verdict"),
    "where": later("where"),
    "what": later("what"),
    "step": later("step"),
    "step_number": later("step {step}"),
    "on_ms_jit": later("MindSpore, ms.jit"),
    "forward": later("forward"),
    "backward": later("backward"),
    "update": later("update"),
    "plumbing": later("plumbing"),
    # Routes to a step
    "loop": later("zero_grad, backward, step"),
    "compiled_route": later("torch.compile, {backend}"),
    "Model.train": later("Model.train, {style}"),
    "TrainOneStepCell": later("TrainOneStepCell, {style}"),
    "GradOperation": later("GradOperation step, {style}"),
    "value_and_grad": later("value_and_grad step, {style}"),
    "ms.jit": later("ms.jit step, {style}"),
    "without_set_grad": later("GradOperation step, {style}, no set_grad()"),
    "routes_near": later(
        "{near} of {routes} ways to take a step leave the weights of PyTorch's zero_grad,"
        " backward, step after each of {steps} steps (greatest difference {greatest:.1e})."
    ),
    "route_parts": later(
        "{framework}'s {route} parts by {difference:.2g}, most of all in {tensor}."
    ),
    "route_refused": later("{route} is refused: {error}."),
    "captured_refused": later(
        "torch.func.grad with the running statistics left in the module is refused: {error}."
    ),
    "routes_title": later("Every way to take a step, against zero_grad, backward, step"),
    "routes_note": later(
        "The greatest difference of any weight or running statistic after each of five steps of SGD"
        " on conv + batch norm."
    ),
    "route": later("route"),
    "parts_in": later("parts: {tensor}"),
    "any_two_title": later("Any two routes: the greatest difference over five steps"),
    "any_two_note": later("Routes that agree to the last bit stand together."),
    "numbered": later("{number}: {group}"),
    "of_framework": later("{framework}, {route}"),
    "count_of": later("{count} of {framework}"),
    "routes_chart": later("How far each way to take a step is from PyTorch's loop"),
    "weight_difference": later("greatest difference of a weight"),
    "no_difference": later("No difference at all: {line}."),
    "line": later("{framework}: {route}"),
    "lines": later("{count} routes of {frameworks:,}"),
    # Update rules
    "SGD with momentum": later("SGD with momentum"),
    "momentum, fused": later("momentum, fused"),
    "momentum with dampening": later("momentum with dampening"),
    "Nesterov momentum": later("Nesterov momentum"),
    "SGD with weight decay": later("SGD with weight decay"),
    "Adam with weight decay": later("Adam with weight decay"),
    "proximal Adagrad": later("proximal Adagrad"),
    "rules_same": later(
        "{same} of {rules} update rules give PyTorch's weights on five given gradients in all their"
        " forms."
    ),
    "rule_parts": later(
        "{rule}: {place} {optimizer} parts from torch.optim.{torch_optimizer} by {difference:.2g}."
    ),
    "by_name": later(
        "Optimizers by name: {nn} in mindspore.nn, {experimental} in mindspore.experimental.optim,"
        " {torch} in torch.optim; PyTorch alone: {torch_alone:,}; MindSpore alone:"
        " {mindspore_alone:,}."
    ),
    "rules_title": later("Update rules on five given gradients"),
    "rules_note": later(
        "With the same settings where both have them; the greatest difference of the weight over"
        " all five."
    ),
    "rule": later("rule"),
    "nn_apart": later("nn apart"),
    "experimental_apart": later("experimental apart"),
    "refused_in": later("{place} refused: {error}"),
    "refusals": later("{refusals:;}"),
    "mindspore_alone": later("MindSpore alone"),
    "rules_chart": later("Update rules against torch.optim's, after five given gradients"),
    "rules_axis": later("greatest difference of the weight"),
    "rules_chart_note": later(
        "A rule without a point is not there, or gives the same to the last bit; 1e-7 is what"
        " float32 rounds to."
    ),
    # Momentum, weight decay and groups
    "momentum_ways": later(
        "Momentum written in several ways ({style} style) leaves of one weight: {outcomes:;}."
    ),
    "way_leaves": later("{way}: {weight}"),
    "small operators, as printed": later("small operators, as printed"),
    "small operators, as meant": later("small operators, as meant"),
    "ApplyMomentum, as printed": later("ApplyMomentum, as printed"),
    "ApplyMomentum, as meant": later("ApplyMomentum, as meant"),
    "decay_spares": later("weight_decay=0.1 spares {weights:,} in {optimizers:,}."),
    "decay_by_default": later("Optimizers that decay by default: {optimizers:,}."),
    "group_settings": later(
        "Settings of a parameter group that {place} refuses: {refused:;}; that it takes without"
        " effect: {idle:;}."
    ),
    "grad_centralization, rows of 16": later("grad_centralization, rows of 16"),
    "grad_centralization, rows of 2": later("grad_centralization, rows of 2"),
    "step_after_group": later("A step after add_param_group of {optimizers:,}: {outcome}."),
    "both_move": later("both weights move"),
    "decay_title": later("Weight decay: what is left of a 1 after one step with gradient 0"),
    "optimizer": later("optimizer"),
    "weight_by_default": later("weight by default"),
    "weight_decayed": later("weight, decay 0.1"),
    "gamma_decayed": later("gamma, decay 0.1"),
    "beta_decayed": later("beta, decay 0.1"),
    "refused": later("refused"),
    "groups_title": later("Parameter groups: a setting of its own for the first of two weights"),
    "groups_note": later(
        "The first weight beside the second after two steps of SGD; after one step where a group"
        " was added."
    ),
    "setting": later("setting"),
    "add_group": later("add_param_group, {optimizer}"),
    "beside": later("[{first}] beside [{second}]"),
    "beside_no_effect": later("[{first}] beside [{second}]: no effect"),
    "state_title": later("What an SGD optimizer tells of itself"),
    "names_in_state": later("names in state_dict"),
    # Gradients between the backward pass and the update
    "norm_in_inference": later("batch norm in inference"),
    "norm_in_training": later("batch norm in training"),
    "clipping": later(
        "clip_by_global_norm (default {mindspore}) and clip_grad_norm_ (default {torch}) are at"
        " most {difference:.1e} apart."
    ),
    "accumulated": later(
        "Gradients added over four micro-batches are {mean:.2g} off the whole batch's where the"
        " loss is a mean, and {divided:.2g} once divided by 4; where it is a sum, {sum:.2g}"
        " ({framework}, {mode})."
    ),
    "clipping_title": later("Clipping gradients [3, 4] and [12], whose norm is 13"),
    "how": later("how"),
    "difference": later("difference"),
    "norm_default": later("by norm, default"),
    "default": later("default: {default}"),
    "by_norm": later("by norm {norm}"),
    "by_value": later("by value"),
    "micro_title": later("Four micro-batches against one batch: how far the gradients are off"),
    "net": later("net"),
    "loss": later("loss"),
    "sum_of_gradients": later("sum of gradients"),
    "sum_divided": later("sum divided by 4"),
    # The step itself
    "chosen": later(
        "trainable_params() is a {type}, parameters() a {torch_type}; given only {chosen:,},"
        " MindSpore's step moves {moved:,} and PyTorch's {torch_moved:,}."
    ),
    "scaled_runs": later(
        "TrainOneStepWithLossScaleCell runs, with the loss {loss}, in {styles} style."
    ),
    "scaled_fails": later(
        "TrainOneStepWithLossScaleCell does not run here ({error}), in {styles} style."
    ),
    "dispatched": later(
        "A step on {framework}'s tape dispatches {operators} operators ({counts:,})."
    ),
    "part_count": later("{part} {count}"),
    "compiled": (
        later("For a step MindSpore compiles {n} graph ({way}): {graphs:;}."),
        later("For a step MindSpore compiles {n} graphs ({way}): {graphs:;}."),
    ),
    "parts_in_nodes": later("{parts} in {nodes} nodes"),
    "breaks": (
        later("{route}, breaks a step {breaks} times and makes {n} graph of it."),
        later("{route}, breaks a step {breaks} times and makes {n} graphs of it."),
    ),
    "step_title": later("What one step is carried out as"),
    "count": later("count"),
    "which": later("which"),
    "operators_of": later("operators of {part}"),
    "nodes_of": later("nodes of graph {number} of {graphs}"),
    "count_part": later("{count} {part}"),
    "graphs": later("graphs"),
    "breaks_by_reason": later("breaks: {reasons:;}"),
    "times_reason": later("{count} × {reason}"),
    "times_title": later("Time of a step"),
    "way": later("way"),
    "milliseconds": later("milliseconds"),
    "times_note": later("Repeated steps: the least processor time, taken in turn."),
    "by itself": later("by itself"),
    "first_call": later("{way}, first call"),
    "times_chart": later("Time of a step: by itself and compiled whole"),
    "times_axis": later("milliseconds of the processor (least)"),
    "a_step": later("a step"),
    "timed": later("{where}, {way}"),
    # Evidence: routes, ms.jit, clipping, accumulation
    "loop_difference": later("weights' greatest difference from PyTorch's loop over 5 steps"),
    "jit_difference": later("weights' greatest difference with and without ms.jit after 5 steps"),
    "jit_time": later(
        "processor time of a repeated step without ms.jit, as a multiple of that with it"
    ),
    "at_least": later("at least {factor}"),
    "less_than": later("less than {factor}"),
    "one_by_one": later("operators dispatched one by one"),
    "graphs_compiled": later("graphs compiled"),
    "graphs_under_jit": later("graphs compiled under ms.jit"),
    "graphs_with": (later("{n} graph ({graphs:;})"), later("{n} graphs ({graphs:;})")),
    "parts_and_nodes": later("{parts}, {nodes} nodes"),
    "route_difference": later(
        "greatest difference of weights and running statistics between PyTorch's loop and {route}"
    ),
    "guide_step": later("the guide's step"),
    "guide_step_set_grad": later("the guide's step after set_grad()"),
    "one_forward": later("value_and_grad, then the optimizer"),
    "weights_alone": later(
        "greatest difference of the weights alone between PyTorch's loop and the guide's step"
    ),
    "differs_most": later("what differs most after the guide's step"),
    "mean_moved": later("how far the first of the guide's steps moves the running mean"),
    "times_as_far": later("{ratio:.3g} times as far as PyTorch's"),
    "forward_passes": later(
        "forward passes in the guide's step (net(image) for the loss, GradOperation for the"
        " gradients), counted by how far the running mean moved"
    ),
    "clip_default": later("default of clip_norm"),
    "clipped_by_default": later("[[3, 4], [12]] clipped by default"),
    "clip_difference": later("greatest difference from clip_grad_norm_ at norms 1, 5 and 20"),
    "mean_divided": later(
        "greatest difference from the whole batch's gradient, loss a mean, sum divided by 4"
    ),
    "mean_undivided": later(
        "greatest difference from the whole batch's gradient, loss a mean, not divided"
    ),
    "sum_undivided": later(
        "greatest difference from the whole batch's gradient, loss a sum, not divided"
    ),
    "divided_in_training": later(
        "greatest difference from the whole batch's gradient, batch norm in training, sum divided by 4"
    ),
    # Evidence: a function with a state
    "state_difference": later("greatest difference of losses and state with and without ms.jit"),
    "weight under ms.jit": later("weight under ms.jit"),
    "moments under ms.jit": later("moments under ms.jit"),
    "steps counted under ms.jit": later("steps counted under ms.jit"),
    "operators_dispatched": later("operators dispatched"),
    "operators_under_jit": later("operators dispatched under ms.jit"),
    # Evidence: optimizers and their base class
    "type_of_trainable": later("type of trainable_params()"),
    "type_of_parameters": later("type of parameters()"),
    "moved_by_step_of": later("weights moved by a step of {chosen:,}"),
    "weight_after_decay": later("weight of 1 after a step of SGD with weight_decay=0.1"),
    "not_decayed": later("weights that are not decayed"),
    "default_decay": later("decay by default"),
    "effective_settings": later("settings of a group that have an effect"),
    "added_group": later("add_param_group, then a step"),
    "works": later("works"),
    "fails": later("fails"),
    "group_centralization": later("grad_centralization for a group"),
    "has_state_dict": later("has a state_dict"),
    "names_in_state_dict": later("names in state_dict()"),
    "state_dict_loaded": later("load_state_dict() takes what state_dict() gives"),
    "step scaled": later("weight of 1 after a step with gradient 4 and loss_scale 4"),
    "step whole": later("weight of 1 after a step with gradient 4"),
    "step divided by hand": later("weight of 1 after a step with gradient 4, divided by hand"),
    "step scaled, decayed": later(
        "weight of 1 after a step with gradient 4, loss_scale 4 and weight_decay"
    ),
    "step divided by hand, decayed": later(
        "weight of 1 after a step with gradient 4, divided by hand, and weight_decay"
    ),
    "call_as_printed": later("{optimizer}(…) as printed"),
    "rates_and_keys": later("lr {rates}, keys {keys:,}"),
    # Evidence: optimizers without counterpart
    "in_mindspore": later("in MindSpore, with PyTorch's weights after five gradients"),
    "in_mindspore_other": later("in MindSpore, with other weights than PyTorch's"),
    "method_in_mindspore": later("in MindSpore, as a function that finds the minimum on the tape"),
    "refuse_groups": later("refuse two groups with different rates"),
    "take_groups": later("take them"),
    "count_taking": later("{count} of {whole}"),
    "one_rate_for": later("Give {optimizers:,} one rate for all weights."),
    "not_in_mindspore": later("not in MindSpore"),
    "not_in_torch_either": later("not in PyTorch either"),
    "misprint": later("a name as the guide prints it"),
    "in_torch": later("in torch.optim under the same name"),
    "in_torch_by_weights": later(
        "in torch.optim under another name, with the same weights after five gradients"
    ),
    "not_in_torch": later("not in torch.optim, and no optimizer there leaves the same weights"),
    "weights_not_compared": later("not in torch.optim under this name; weights not compared"),
    "no_step_here": later("takes no step on this device"),
    "optimizer_and": later("{optimizer} ({others:,})"),
    # Evidence: the guide's listings
    "chosen_as_printed": later("parameters chosen, as printed"),
    "chosen_as_meant": later("parameters chosen, as meant"),
    "shape_as_printed": later("shape of the output, as printed"),
    "shape with PyTorch's label": later("shape of the output, with PyTorch's label"),
    "shape with MindSpore's label": later("shape of the output, with MindSpore's label"),
    "shape padded as in PyTorch": later("shape of the output, padded as in PyTorch"),
    "shape padded as in MindSpore": later("shape of the output, padded as in MindSpore"),
    "weight_after_momentum": later("weight after three steps of {way}"),
    "scaled_loss": later("loss of TrainOneStepWithLossScaleCell"),
    "needs_npu": later("{error}, an operator of Ascend NPUs"),
    # Advice with values
    "decay_divided": later("Set weight_decay for the scaled loss, as it is divided too"),
    "decay_not_divided": later("Leave weight_decay as it is, as the gradient alone is divided"),
    "in_both": later("in mindspore.experimental.optim and PyTorch divide the gradients yourself"),
    "in_torch_alone": later("in PyTorch divide the gradients yourself"),
    "divide_by_hand": later("{decay}; {where}."),
    "divide_and_name_arguments": later(
        "{decay}; name the arguments, as SGD takes them in another order than the base class;"
        " {where}."
    ),
    "use_style": later("Use {style} style, or compare the weights step by step."),
    "routes_in_style": later("Take these routes in {style} style alone."),
    "printed_in_style": later("Use the printed optimizers in {style} style alone."),
    "scale_by_hand": later("Scale with ms.amp in a step of your own in {styles} style."),
    "jit_in_style": later("Jit a step with its optimizer in {style} style."),
    "set_decay": later("Set weight_decay yourself for {optimizers}."),
    "group_for_spared": later("Make a group in PyTorch for what {place} spares: {weights}."),
    "use_matching": later("Use {optimizers:or}."),
    "use_matching_or_method": later(
        "Use {optimizers:or}. {methods:,} minimizes a function of one tensor on the tape; it has no"
        " step for a net's weights."
    ),
    "use_matching_write_missing": later(
        "Use {optimizers:or}; only {missing:,} must be written, on nn.Optimizer."
    ),
    "compare_before_use": later(
        "Compare the weights before you use {optimizers:or}: its update is not PyTorch's."
    ),
    "use_torch_name": later("Use torch.optim's {optimizers:,}."),
    "use_other_name": later("Use PyTorch's optimizer of other name: {optimizers:,}."),
    "use_other_name_write_rest": later(
        "Use PyTorch's optimizer of other name: {optimizers:,}; write {others:,} yourself."
    ),
}

ADVICE: Final[dict[tuple[int, str], str]] = {
    (16, "holds"): later(
        "Pass the result on: MindSpore returns clipped gradients, while clip_grad_norm_ changes"
        " .grad and has no default norm."
    ),
    (17, "holds"): later("Divide by the number of micro-batches if the loss is a mean."),
    (17, "batch norm apart"): later(
        "Divide by the number of micro-batches if the loss is a mean; batch norm in training sees"
        " each micro-batch alone, so keep it out of the comparison."
    ),
    (19, "holds"): later(
        "Use value_and_grad over optimizer.parameters, then optimizer(grads); nothing needs"
        " zeroing."
    ),
    (20, "holds"): later(
        "Decorate the whole step with ms.jit, and leave the first call, which compiles, out of the"
        " timing."
    ),
    (21, "depends_on_style"): later(
        "Decorate the whole step to have one graph: tape style dispatches each operator, graph"
        " style joins forward and backward."
    ),
    (52, "one forward"): later(
        "Take loss and gradients from one ms.value_and_grad, or use TrainOneStepCell: the guide's"
        " step runs the forward pass twice, once for the loss and once for the gradients, and each"
        " pass moves batch norm's running statistics; set_grad() does not change that."
    ),
    (52, "set_grad"): later(
        "Call set_grad() on the cells of the guide's step: its forward runs twice otherwise."
    ),
    (53, "once"): later(
        "Filter trainable_params() by p.name, and named_parameters() by name; make a list of"
        " parameters() to go through it twice."
    ),
    (53, "holds"): later("Filter trainable_params() by p.name, and named_parameters() by name."),
    (58, "at once"): later(
        "Use mindspore.experimental.optim for a group's own momentum, but name all groups at the"
        " start: none can be added later."
    ),
    (58, "holds_with_changes"): later(
        "Use mindspore.experimental.optim for a group's own momentum."
    ),
    (59, "flat, weights"): later(
        "Use state_dict() in both; MindSpore's is flat, by the names of parameters, with the"
        " weights in it."
    ),
    (59, "flat, refused"): later(
        "Use state_dict() in both; MindSpore's is flat, by the names of parameters, with the"
        " weights in it. Load it with ms.load_param_into_net(optimizer, state): load_state_dict"
        " refuses it."
    ),
    (60, "repair"): later(
        "Use nn.Momentum; by hand, let each moment become momentum times itself plus the gradient,"
        " take the rate times it from the weight, and set self.momentum."
    ),
    (60, "not_checkable_here"): later(
        "Scale with ms.amp in a step of your own: the cell needs another device."
    ),
    (67, "holds_with_changes"): later(
        "Read param_groups of mindspore.experimental.optim as PyTorch's; of mindspore.nn, group_lr,"
        " group_weight_decay and group_params."
    ),
    (68, "ask names"): later(
        'Ask for `"conv" not in name` in both, of trainable_params() and named_parameters().'
    ),
    (69, "pad alike"): later(
        'Say pad_mode="valid" in MindSpore where PyTorch\'s Conv2d has no padding.'
    ),
    (83, "holds"): later("Put the optimizer's call inside the function, and jit that."),
}
