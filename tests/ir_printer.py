"""Prints IR records as MindSpore prints its IR: what the reader must give back unchanged."""

from explorer.engines.mindspore.ir.records import (
    Abstract,
    GraphRef,
    IRNode,
    Items,
    Keyword,
    Module,
    NodeRef,
    OuterRef,
    Parameter,
    ParameterRef,
    Scalar,
    SequenceShape,
    Shape,
    Source,
    Subgraph,
    Symbol,
    Table,
    TensorShape,
    TensorValue,
    Text,
    Type,
    Value,
)

PREFIXES = {"PrimFunc": "PrimFunc_", "S_Prim": "S_Prim_"}


def type_text(kind: Type) -> str:
    args = [type_text(arg) for arg in kind.args]
    if kind.name == "Dictionary":
        return f"Dictionary[[{''.join(f'{key},' for key in kind.keys)}],[{','.join(args)}]]"
    if kind.name == "Keyword":
        return f"Keyword[key : {kind.keys[0]}, value : {args[0]}]"
    if kind.name == "Slice":
        return f"Slice[{' : '.join(args)}]"
    if kind.name.startswith("Dynamic "):
        return f"{kind.name}[element: {args[0]}]"
    return f"{kind.name}[{','.join(args)}]" if args or kind.name in {"Tuple", "List"} else kind.name


def shape_text(shape: Shape) -> str:
    if shape is None:
        return "NoShape"
    if isinstance(shape, TensorShape):
        return f"({', '.join(map(str, shape.sizes))})"
    if shape.kind == "Dynamic":
        return "DynamicSequenceShape"
    return f"{shape.kind}Shape({', '.join(map(shape_text, shape.items))})"


def abstract_text(abstract: Abstract) -> str:
    if abstract.type.name == "null":
        return "<null>"
    parts = [type_text(abstract.type), shape_text(abstract.shape)]
    parts += [f"ref_key={abstract.ref_key}"] if abstract.ref_key is not None else []
    parts += [word for word in ("is_parameter", "is_inplace") if getattr(abstract, word)]
    parts += ["value=..."] if abstract.known else []
    parts += (
        ["elements_use_flags={[const vector]{1}}"]
        if isinstance(abstract.shape, SequenceShape)
        else []
    )
    return f"<{', '.join(parts)}>"


def value_text(value: Value) -> str:
    match value:
        case NodeRef(index):
            return f"%{index}"
        case ParameterRef(label, graph):
            return f"$(@{graph}:{label})" if graph else f"%{label}"
        case OuterRef(graph, name):
            return f"$(@{graph}:{name})"
        case GraphRef(name):
            return f"@{name}"
        case Scalar(number, dtype):
            text = str(int(number)) if isinstance(number, bool) else str(number)
            return f"{dtype}({text})" if dtype else text
        case Text(text):
            return f'"{text}"'
        case Symbol(text):
            return text
        case TensorValue(shape, dtype, text):
            return f"Tensor(shape=[{', '.join(map(str, shape))}], dtype={dtype}, value={text})"
        case Items("tuple", values):
            return f"({', '.join(map(value_text, values))})"
        case Items(_, values):
            return f"[{', '.join(map(value_text, values))}]"
        case Table(keys, values):
            return f"{{{', '.join(f'{value_text(k)}: {value_text(v)}' for k, v in zip(keys, values, strict=True))}}}"
        case Keyword(key, inner):
            return f"KeywordArg[key : {key}, value : {value_text(inner)}]"


def statement_text(node: IRNode) -> str:
    if node.callee is None:
        head = PREFIXES.get(node.kind, "") + node.op + node.detail
    elif isinstance(node.callee, GraphRef):
        head = f"call {value_text(node.callee)}"
    elif isinstance(node.callee, ParameterRef) and not node.callee.graph:
        head = node.callee.label.partition("_")[2]
    else:
        head = value_text(node.callee)
    if len(node.targets) > 1:
        head += f"[@FuncUnion({', '.join(f'@{name}' for name in node.targets)})]"
    elif node.targets:
        head += f"[@@{node.targets[0]}]"
    start = "  Return" if node.op == "Return" else f"  %{node.index}({node.name}) = {head}"
    text = f"{start}({', '.join(map(value_text, node.operands))})"
    text += f" {{instance name: {node.instance_name}}}" if node.instance_name else ""
    for heading, attrs in (
        ("primitive_attrs", node.attrs),
        ("cnode_attrs", node.cnode_attrs),
        ("cnode_primal_attrs", node.primal_attrs),
    ):
        inner = ", ".join(f"{key}: {value_text(value)}" for key, value in attrs.items())
        text += f" {heading}: {{{inner}}}" if attrs else ""
    return text


def source_text(source: Source) -> str:
    last = f"~{source.last_line}" if source.last_line != source.line else ""
    columns = f", {source.columns[0]}~{source.columns[1]}" if source.columns else ""
    note = (
        "<~~This line of code can be shared by multiple nodes, and may be duplicated./"
        if source.shared
        else ""
    )
    return f"# In file {source.file}:{source.line}{last}{columns}/{source.code}/{note}"


def node_text(node: IRNode) -> list[str]:
    output = f" -> ({abstract_text(node.output)})" if node.output is not None else ""
    lines = [
        statement_text(node),
        f"      : ({', '.join(map(abstract_text, node.inputs))}){output}",
    ]
    lines += [f"      : {layout}" for layout in node.layouts]
    if node.full_name:
        lines.append(f"      # Fullname with scope: ({node.full_name})")
    elif node.scope:
        lines.append(f"      # Scope: ({node.scope})")
    lines += (
        [f"      # SideEffect: {{ {' '.join(node.side_effects)} }}"] if node.side_effects else []
    )
    lines += (
        ["      # Comment:", *(f"        # {remark}" for remark in node.remarks)]
        if node.remarks
        else []
    )
    lines += [f"      {source_text(source)}" for source in node.sources]
    for heading, sources in (
        ("forward node", node.forward_sources),
        ("code", node.similar_sources),
    ):
        lines += [f"      # Corresponding {heading} candidate:"] if sources else []
        lines += [f"      {source_text(source)}" for source in sources]
    return [f"#------------------------> {node.failed_at}"] * (node.failed_at is not None) + lines


def parameter_text(parameter: Parameter) -> str:
    abstract = abstract_text(parameter.abstract) if parameter.abstract else "<null>"
    text = f"%{parameter.label}: {abstract}" + (
        f" : {parameter.symbols}" if parameter.symbols else ""
    )
    text += "  :  has_default" if parameter.has_default else ""
    text += f"  :  <{parameter.layout}>" if parameter.layout else ""
    return text + (
        "" if parameter.is_weight is None else f"  :  IsWeight: {str(parameter.is_weight).lower()}"
    )


def subgraph_text(graph: Subgraph, entry: bool) -> list[str]:
    lines = [
        "subgraph attr:",
        *(f"{key}: {text}" for key, text in graph.attrs.items()),
        f"subgraph instance: {graph.name} : 0x1",
    ]
    own = () if entry else graph.parameters
    if not entry:
        types = [
            abstract_text(parameter.abstract) for parameter in own if parameter.abstract is not None
        ]
        lines.append(f"# Parameters: {len(own)}, ({', '.join(types)})")
    lines += [f"# SideEffect: {{ {' '.join(graph.side_effects)} }}"] if graph.side_effects else []
    lines += [source_text(source) for source in graph.sources]
    parent = f" parent: [subgraph @{graph.parent}]" if graph.parent else ""
    lines.append(
        f"subgraph @{graph.name}{parent}({', '.join(f'%{parameter.label}' for parameter in own)}) {{"
    )
    for node in (*graph.nodes, *((graph.returned,) if graph.returned else ())):
        lines += node_text(node)
    return [
        *lines,
        "}",
        "# Order:",
        *(f"#   1: @{graph.name}:{node.name}{{[0]: x}}" for node in graph.nodes),
        "",
        "",
    ]


def module_text(module: Module) -> str:
    lines = [f"# IR entry: @{module.entry}", f"# Total subgraphs: {len(module.subgraphs)}", ""]
    lines += (
        ["jit config {", *(f"{key}: {text}" for key, text in module.config.items()), "}", ""]
        if module.config
        else []
    )
    lines += (
        ["# Attrs:", *(f"{key}: {text}" for key, text in module.attrs.items()), ""]
        if module.attrs
        else []
    )
    lines += [f"# Total params: {len(module.parameters)}", *["# Params:"] * bool(module.parameters)]
    lines += [*map(parameter_text, module.parameters), "", "Node counting information:"]
    lines += ["Total number of nodes: 1", "Total number of cnodes: 1", ""]
    for graph in module.subgraphs:
        lines += subgraph_text(graph, graph.name == module.entry)
    return "\n".join(lines)
