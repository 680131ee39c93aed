"""What the study of schedules, and claims about them, say."""

from explorer.text.language import later

TEXTS = {
    # Forms of schedules
    "form list": later("MindSpore function"),
    "form cell": later("MindSpore Cell"),
    "form hand": later("MindSpore experimental scheduler"),
    "form callback": later("MindSpore callback of Model.train"),
    "form torch": later("PyTorch scheduler"),
    "call list": later("MindSpore list"),
    "call cell": later("MindSpore Cell"),
    "call hand": later("MindSpore, stepped by hand"),
    "call torch": later("PyTorch, stepped by hand"),
    "call both": later("both, stepped by hand"),
    # Families, and their rates where no formula has them
    "family exponential": later("exponential"),
    "family exponential in stairs": later("exponential in stairs"),
    "family natural exponential": later("natural exponential"),
    "family natural exponential in stairs": later("natural exponential in stairs"),
    "family inverse": later("inverse"),
    "family inverse in stairs": later("inverse in stairs"),
    "family cosine": later("cosine"),
    "family cosine, then flat": later("cosine, then flat"),
    "family polynomial": later("polynomial"),
    "family polynomial to an end": later("polynomial to an end"),
    "family polynomial over longer spans": later("polynomial over longer spans"),
    "family warm-up": later("warm-up"),
    "family warm-up from 0 by LinearLR": later("warm-up from 0 by LinearLR"),
    "family piecewise constant": later("piecewise constant"),
    "family linear": later("linear"),
    "family constant, then whole": later("constant, then whole"),
    "family multiplied": later("multiplied"),
    "family one after another": later("one after another"),
    "family one after another, cut short": later("one after another, cut short"),
    "family on a plateau": later("on a plateau"),
    "family cyclic": later("cyclic"),
    "family cyclic, halving": later("cyclic, halving"),
    "family cosine with restarts": later("cosine with restarts"),
    "family one cycle": later("one cycle"),
    "family chained": later("chained"),
    "family averaging": later("averaging"),
    "rate cosine": later("half a cosine from 0.1 to 0.01 in 10 steps, and what comes after it"),
    "rate cosine, then flat": later("half a cosine from 0.1 to 0.01 in 10 steps, then 0.01"),
    "rate polynomial": later("0.1 · (1 - t/10)², then 0"),
    "rate polynomial to an end": later("0.09 · (1 - t/10)² + 0.01, then 0.01"),
    "rate polynomial over longer spans": later("0.09 · (1 - t/T)² + 0.01 with T = 10 · ⌈t/10⌉"),
    "rate piecewise constant": later("0.1 up to step 5, 0.05 up to step 10, then 0.025"),
    "rate linear": later("from a third of the rate to the whole in 5 steps"),
    "rate constant, then whole": later("half the rate for 5 steps, then the whole"),
    "rate one after another": later("a tenth for 5 steps, then 0.9^t from there"),
    "rate one after another, cut short": later(
        "a tenth meant for 2 steps and followed for 5, then 0.9^t from there"
    ),
    "rate on a plateau": later("a tenth after 3 losses that are no better"),
    "rate cyclic": later("up and down between 0.01 and 0.1 in 5 and 5 steps"),
    "rate cyclic, halving": later("up and down, half as high each time"),
    "rate cosine with restarts": later("half a cosine in 5 steps, then in 10"),
    "rate one cycle": later("up to 0.1 and down to nearly nothing in 20 steps"),
    "rate chained": later("two schedules multiplied"),
    "rate averaging": later("to 0.05 in 5 steps, then flat"),
    # Who moves a schedule on
    "way nn.SGD with a list": later("nn.SGD with a list"),
    "way nn.SGD with a Cell": later("nn.SGD with a Cell"),
    "way nn.SGD with a list that is too short": later("nn.SGD with a list that is too short"),
    "way experimental SGD, never stepped": later("experimental SGD, never stepped"),
    "way experimental SGD, stepped by hand": later("experimental SGD, stepped by hand"),
    "way SGD, never stepped": later("SGD, never stepped"),
    "way SGD, stepped by hand": later("SGD, stepped by hand"),
    "way torch.optim.SGD, never stepped": later("torch.optim.SGD, never stepped"),
    "way torch.optim.SGD, stepped by hand": later("torch.optim.SGD, stepped by hand"),
    "party_and_way": later("{party}, {way}"),
    "after": later("{way}: get_last_lr() after it"),
    # Findings
    "same_rates": later(
        "{same} of {compared} pairs of schedules give the same rates at every step in both"
        " frameworks (greatest difference {greatest:.1e} of the greatest rate)."
    ),
    "parting": later(
        "The rates of {family} part at step {step}: {mindspore:,} (MindSpore); {torch} (PyTorch)."
    ),
    "own_function": later("PyTorch needs a function of your own (LambdaLR) for: {families:;}."),
    "is_refused": later("{form} {call} is refused: {why}."),
    "count": later("{count} × {form}"),
    "counts": later("Schedules that are exported: {counts:,}."),
    "only": later("Schedulers that only {framework} has: {names:,}."),
    "exported": later("{form} {schedule}"),
    "uncompared": later("Exported and not compared here: {schedules:,}."),
    "share": later("{count} of {of} × {form}"),
    "deprecated": later("Documented as deprecated: {counts:,} ({notices})."),
    "way_refused": later("{who}: {why}."),
    "moves": later("{who}: the rate moves at every update ({rates:,})."),
    "stays": later("{who}: the rate stays ({rates:,})."),
    "piecewise": later("piecewise_constant_lr([2, 5, 10], [0.1, 0.05, 0.01]) gives {outcome}."),
    # Charts
    "sequences": later("What MindSpore's schedules do to a rate of 0.1"),
    "sequences_note": later("From the functions that return a list."),
    "step": later("step"),
    "rate": later("learning rate"),
    "other_rates": later("Where the same settings give other rates"),
    "parts_at_step": later("{family} parts at step {step}"),
    "partings": later("{partings:;}."),
    "sequence": later("{names:,} ({frameworks})"),
    "who_moves": later("Who moves the schedule on"),
    "rate_used": later("rate used"),
    "update": later("update {number}"),
    "who_moves_note": later(
        "The gradient is 1, so that the weight moves by the rate; a rate that has moved has a"
        " shorter second bar."
    ),
    # Tables
    "counterparts": later("Schedules and their counterparts"),
    "counterparts_note": later(
        "The greatest difference is a share of the greatest rate; float32 rounds at 1e-7."
    ),
    "family": later("family"),
    "by_itself": later("MindSpore by itself"),
    "stepped": later("MindSpore stepped"),
    "torch_stepped": later("PyTorch stepped"),
    "difference": later("difference"),
    "parts_at": later("parts at"),
    "verdict": later("verdict"),
    "same": later("same"),
    "same_by_function": later("same, by a function of your own"),
    "parts": later("parts"),
    "refused": later("refused: {forms:,}"),
    "torch_alone": later("PyTorch alone"),
    "not_compared": later("not compared"),
    "rates_used": later("Who moves the schedule on: the rates that the updates used"),
    "rates_used_note": later("The gradient is 1, so that the weight moves by the rate."),
    "framework": later("framework"),
    "way": later("way"),
    "exports": later("Every schedule that the installed frameworks export"),
    "exports_note": later(
        "Found by looking into the modules, so that a new version's schedules appear by themselves."
    ),
    "where": later("where"),
    "schedule": later("schedule"),
    "compared_with": later("compared with"),
    "ending": later("documented as ending"),
    "parameters": later("Schedulers of one name: parameters that differ"),
    "parameters_note": (
        later(
            "{n} scheduler has one name in both frameworks; what is not listed has the same"
            " default in both."
        ),
        later(
            "{n} schedulers have one name in both frameworks; what is not listed has the same"
            " default in both."
        ),
    ),
    "scheduler": later("scheduler"),
    "parameter": later("parameter"),
    "no_default": later("has none"),
    "settings": later("The settings that were compared"),
    "settings_note": later(
        "lr_lambda names a plain function of the step; a rate of 0.1 is the optimizer's own."
    ),
    "rate_at_step": later("rate at step t"),
    "call": later("call"),
    # Rows 54 and 55
    "documentation": later("its documentation"),
    "last_rates": later("get_last_lr() after each step()"),
    "rate_used_by": later("rate used by {way}"),
    # Row 56
    "decay": later("{family} decay over {steps} steps"),
    "agree": later("the rates of {scheduler}"),
    "by_function": later("the same rates, with a function of your own in PyTorch"),
    "part": later("other rates than PyTorch's from step {step}"),
    "not_comparable": later("not comparable"),
    "use_for": later("{scheduler} for {family}"),
    "use": later("Use {uses:,}"),
    "use_function": later("LambdaLR for {families:,}"),
    "end": later("end the {family} before step {step}"),
    "use_all": later("{clauses:;}."),
    # Row 63
    "listed": later("piecewise_constant_lr gives the rates of"),
    "listed_otherwise": later("piecewise_constant_lr gives other rates than"),
    "matching": later("in MindSpore, with PyTorch's rates over {steps} steps"),
    "other": later("in MindSpore, with other rates than PyTorch's"),
    "unknown": later("in MindSpore, and not compared"),
    "missing": later("not in MindSpore"),
    "gone": later("not in PyTorch either"),
    "take_or_list": later(
        "Take those with PyTorch's rates from mindspore.experimental.optim.lr_scheduler, and step"
        " them yourself; of {missing:,} make a list of rates for an optimizer of mindspore.nn."
    ),
    # Row 65
    "get_lr_parameter number": later("get_lr_parameter where the rate is a number"),
    "get_lr_parameter list": later("get_lr_parameter where the rate is a list"),
    "get_lr_parameter Cell": later("get_lr_parameter where the rate is a Cell"),
    "get_lr list": later("get_lr() after a step where the rate is a list"),
    "get_lr Cell": later("get_lr() after a step where the rate is a Cell"),
    "param_groups": later("rates in param_groups"),
    "last_rates_after_one": later("get_last_lr() after a step"),
    "kinds": later("{kinds:,}"),
    "of_shape": later("{kind} of shape {shape}"),
}

ADVICE = {
    (54, "holds_with_changes"): later(
        "Write the list of rates yourself: it is no more than what the function returns."
    ),
    (55, "holds_with_changes"): later(
        "nn optimizers move a list or Cell on by themselves; with experimental optimizers call"
        " scheduler.step() yourself."
    ),
    (63, "outdated"): later(
        "Take those with PyTorch's rates from mindspore.experimental.optim.lr_scheduler, and step"
        " them yourself."
    ),
    (65, "holds_with_changes"): later(
        "With mindspore.nn ask get_lr_parameter for a fixed rate; of a list or a schedule it"
        " gives all rates, and get_lr() the current one of each parameter. With"
        " mindspore.experimental.optim read param_groups."
    ),
    (65, "counted"): later(
        "With mindspore.nn ask get_lr_parameter for a fixed rate; of a list or a schedule it"
        " gives all rates, and the steps must be counted. With mindspore.experimental.optim read"
        " param_groups."
    ),
}
