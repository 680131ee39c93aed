"""The texts of the study of devices, and of the claims about them."""

from explorer.text.language import later

TEXTS = {
    # Findings
    "cpu_alone": later(
        "No devices were compared: the CPU is the only device here, and there"
        " was nothing to compare it with."
    ),
    "as_on_cpu": (
        later("{who}, on {device} gives exactly the CPU's gradients in {n} way to ask."),
        later("{who}, on {device} gives exactly the CPU's gradients in {n} ways to ask."),
    ),
    "other_tensors": (
        later(
            "{who}, on {device} answers {n} way to ask otherwise than the CPU:"
            " not the same tensors."
        ),
        later(
            "{who}, on {device} answers {n} ways to ask otherwise than the CPU:"
            " not the same tensors."
        ),
    ),
    "near_cpu": (
        later("{who}, on {device} differs from the CPU by at most {worst:.3g} in {n} way to ask."),
        later("{who}, on {device} differs from the CPU by at most {worst:.3g} in {n} ways to ask."),
    ),
    "answered": (
        later("{answered} of {n} way to ask for a gradient get one ({places:,})."),
        later("{answered} of {n} ways to ask for a gradient get one ({places:,})."),
    ),
    "answered_all_but": later(
        "{answered} of {n} ways to ask for a gradient get one, all but {refused} ({places:,})."
    ),
    "engine_on": later("{who} on {device}"),
    "usable_here": later("{who} can use {usable:,} here."),
    "usable_alone": later(
        "{who} can use {usable:,} here, and finds none of the other kinds it knows: {absent:,}."
    ),
    "moves_in_torch": later(
        "PyTorch moves tensors and nets at any time: `.to` took both to {places:,}."
    ),
    "keeps_its_device": later(
        "MindSpore keeps one device for the whole process: a second set_device"
        " is refused ({error}); to move a single tensor it offers {movers:,}."
    ),
    "takes_another": later(
        "MindSpore takes another device in a running process; to move a single"
        " tensor it offers {movers:,}."
    ),
    "nothing": later("nothing"),
    # Tables
    "sees.title": later("What each framework sees"),
    "lives.title": later("Where things are when nothing is said about devices"),
    "moves.title": later("What moves a tensor, and what a framework says where it cannot"),
    "host.title": later("What reads a result as the host's numbers"),
    "framework": later("framework"),
    "what": later("what"),
    "measured": later("measured"),
    "path": later("{outer}: {inner}"),
    "usable": later("usable"),
    "available": later("available"),
    "tensor": later("tensor"),
    "parameter": later("parameter"),
    "result": later("result"),
    "gradient": later("gradient"),
    "target": later("target"),
    "moved": later("moved"),
    "tensor_api": later("tensor api"),
    "net_api": later("net api"),
    "move_to_same": later("move to same"),
    "move_to_other": later("move to other"),
    "set_device_again": later("set device again"),
    "set_device_other": later("set device other"),
    "tensor_to": later("tensor to"),
    "net_to": later("net to"),
    "to_absent": later("to absent"),
    "mixed": later("mixed"),
    "result_with_tape": later("result with tape"),
    "result_detached": later("result detached"),
    "elsewhere": later("elsewhere"),
    "elsewhere_by_cpu": later("elsewhere by cpu"),
    "matrix.title": later("The same cases on each device"),
    "matrix.note": later("The cases are as few as show each way to ask for a gradient once."),
    "matrix.cpu_alone": later(
        "Differences: none, since the CPU is the only device here, and there was"
        " nothing to compare it with."
    ),
    "engine": later("engine"),
    "device": later("device"),
    "cases": later("cases"),
    "cases_answered": later("answered"),
    "greatest": later("greatest difference from cpu"),
    # Charts
    "chart.title": later("Cases answered on each device"),
    "chart.y": later("cases answered"),
    "chart.note": (
        later("Of {n} case, every engine answers {all}, some engines {some}, and none {nobody}."),
        later("Of {n} cases, every engine answers {all}, some engines {some}, and none {nobody}."),
    ),
    # Evidence
    "beside": later("devices here besides the {target}"),
    "second_set_device": later("a second set_device"),
    "taken": later("taken"),
    "moving_with": later("{calls} with {kind}"),
    "on_place": later("on {place}"),
    "read_by_asnumpy": later("asnumpy() of {names:,}"),
    "read_at_once": later("read at once"),
    "numpy_on_tape": later("numpy() of a result on the tape"),
    "numpy_on": later("numpy() on {devices:,}"),
    "cpu_numpy_on": later("cpu().numpy() on {devices:,}"),
    "refused": later("refused"),
    "works": later("works"),
    "fails": later("fails"),
    "here": later("devices here"),
    "as_printed": later("set_context as printed (Ascend)"),
    "set_context_with": later("set_context with {device}"),
    "device_is": later("the device is {device}"),
    "warnings": later("warnings"),
    "process_device": later("device of the process"),
    "output_device": later("device of the output"),
    "element_written": later("output after an element was set"),
    "array_written": later("output after an element of its array was set"),
    "element_written_on": later("output on {device} after an element was set"),
    "array_written_on": later("output on {device} after an element of its array was set"),
    "detached_written_on": later(
        "output on {device} after an element of the detached output's array was set"
    ),
    # Advice
    "choose_once": later("Choose the device once with set_device, before anything runs."),
    "choose_once_and_try": later(
        "Choose the device once with set_device, before anything runs; {calls:,}"
        " take a device's name: try them where there is a second device."
    ),
    "choose_or_move": later("Choose the device once with set_device; {calls} can move too."),
    "copy_to_keep": later(
        "An array shares the output's memory in {styles}: copy it to keep the output."
    ),
    "graph": later("graph"),
    "tape": later("tape"),
    "write_and_check": later(
        "Write to outputs; where they are, a machine with an NPU has to tell."
    ),
    "write_at_once": later("Read and write outputs at once."),
    "write_on_device": later(
        "Write to outputs, and expect them on the device: asnumpy() makes the copy."
    ),
}

ADVICE = {
    (37, "holds"): later(
        "Choose the device once, before anything runs, and leave out every `.to(device)`."
    ),
    (38, "not_checkable_here"): later(
        "Call asnumpy() in MindSpore; in PyTorch .detach().cpu().numpy() is right on every device."
    ),
    (38, "holds"): later("Call asnumpy() in MindSpore, .detach().cpu().numpy() in PyTorch."),
    (38, "numpy works everywhere"): later(
        "Use .detach().cpu().numpy() in PyTorch all the same; it is right on every device."
    ),
    (73, "holds_with_changes"): later(
        "Write set_device(target, number), before anything runs: set_context"
        " still takes both, and says that it will not."
    ),
    (73, "not_checkable_here"): later(
        "Choose the device before anything runs; here there is one kind, and nothing to choose."
    ),
    (79, "copy"): later("Copy an output with asnumpy().copy() before you write to it."),
}
