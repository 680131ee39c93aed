"""Prints IR records as MindSpore prints its IR: what the reader must give back unchanged."""

from collections.abc import Mapping

from explorer.engines.mindspore.ir import records as ir

PREFIXES = {"PrimFunc": "PrimFunc_", "S_Prim": "S_Prim_"}
SHARED = "<~~This line of code can be shared by multiple nodes, and may be duplicated./"

# Types and values


def type_text(kind: ir.Type) -> str:
    args = [type_text(arg) for arg in kind.args]
    if kind.name == "Dictionary":
        return f"Dictionary[[{''.join(f'{key},' for key in kind.keys)}],[{','.join(args)}]]"
    if kind.name == "Keyword":
        return f"Keyword[key : {kind.keys[0]}, value : {args[0]}]"
    if kind.name == "Slice":
        return f"Slice[{' : '.join(args)}]"
    if kind.name.startswith("Dynamic "):
        return f"{kind.name}[element: {args[0]}]"
    if args or kind.name in {"Tuple", "List"}:
        return f"{kind.name}[{','.join(args)}]"
    return kind.name


def shape_text(shape: ir.Shape) -> str:
    if shape is None:
        return "NoShape"
    if isinstance(shape, ir.TensorShape):
        return f"({', '.join(map(str, shape.sizes))})"
    if shape.kind == "Dynamic":
        return "DynamicSequenceShape"
    return f"{shape.kind}Shape({', '.join(map(shape_text, shape.items))})"


def abstract_text(abstract: ir.Abstract) -> str:
    if abstract.type.name == "null":
        return "<null>"
    parts = [type_text(abstract.type), shape_text(abstract.shape)]
    if abstract.ref_key is not None:
        parts.append(f"ref_key={abstract.ref_key}")
    if abstract.is_parameter:
        parts.append("is_parameter")
    if abstract.is_inplace:
        parts.append("is_inplace")
    if abstract.known:
        parts.append("value=...")
    if isinstance(abstract.shape, ir.SequenceShape):
        parts.append("elements_use_flags={[const vector]{1}}")
    return f"<{', '.join(parts)}>"


def values_text(values: tuple[ir.Value, ...]) -> str:
    return ", ".join(map(value_text, values))


def reference_text(value: ir.NodeRef | ir.ParameterRef | ir.OuterRef | ir.GraphRef) -> str:
    match value:
        case ir.NodeRef(index):
            return f"%{index}"
        case ir.ParameterRef(label, graph):
            return f"$(@{graph}:{label})" if graph else f"%{label}"
        case ir.OuterRef(graph, name):
            return f"$(@{graph}:{name})"
        case ir.GraphRef(name):
            return f"@{name}"


def value_text(value: ir.Value) -> str:
    match value:
        case ir.NodeRef() | ir.ParameterRef() | ir.OuterRef() | ir.GraphRef():
            return reference_text(value)
        case ir.Scalar(number, dtype):
            text = str(int(number)) if isinstance(number, bool) else str(number)
            return f"{dtype}({text})" if dtype else text
        case ir.StringValue(text):
            return f'"{text}"'
        case ir.Symbol(text):
            return text
        case ir.TensorValue(shape, dtype, text):
            return f"Tensor(shape=[{', '.join(map(str, shape))}], dtype={dtype}, value={text})"
        case ir.SequenceValue("tuple", values):
            return f"({values_text(values)})"
        case ir.SequenceValue(_, values):
            return f"[{values_text(values)}]"
        case ir.DictValue(keys, values):
            pairs = zip(map(value_text, keys), map(value_text, values), strict=True)
            return "{" + ", ".join(f"{key}: {text}" for key, text in pairs) + "}"
        case ir.KeywordValue(key, inner):
            return f"KeywordArg[key : {key}, value : {value_text(inner)}]"


# Nodes


def applied_text(node: ir.IRNode) -> str:
    """What a node applies, with the subgraphs that it may reach."""
    if node.callee is None:
        text = PREFIXES.get(node.kind, "") + node.op + node.detail
    elif isinstance(node.callee, ir.GraphRef):
        text = f"call {value_text(node.callee)}"
    elif isinstance(node.callee, ir.ParameterRef) and not node.callee.graph:
        text = node.callee.label.partition("_")[2]
    else:
        text = value_text(node.callee)
    if len(node.targets) > 1:
        targets = ", ".join(f"@{name}" for name in node.targets)
        return f"{text}[@FuncUnion({targets})]"
    return f"{text}[@@{node.targets[0]}]" if node.targets else text


def statement_text(node: ir.IRNode) -> str:
    text = f"  %{node.index}({node.name}) = {applied_text(node)}"
    if node.op == "Return":
        text = "  Return"
    text += f"({values_text(node.operands)})"
    if node.instance_name:
        text += f" {{instance name: {node.instance_name}}}"
    sections = {
        "primitive_attrs": node.attrs,
        "cnode_attrs": node.cnode_attrs,
        "cnode_primal_attrs": node.primal_attrs,
    }
    for heading, attrs in sections.items():
        if attrs:
            inner = ", ".join(f"{key}: {value_text(value)}" for key, value in attrs.items())
            text += f" {heading}: {{{inner}}}"
    return text


def source_text(source: ir.Source) -> str:
    text = f"# In file {source.file}:{source.line}"
    if source.last_line != source.line:
        text += f"~{source.last_line}"
    if source.columns:
        text += f", {source.columns[0]}~{source.columns[1]}"
    return f"{text}/{source.code}/" + (SHARED if source.shared else "")


def node_lines(node: ir.IRNode) -> list[str]:
    lines = []
    if node.failed_at is not None:
        lines.append(f"#------------------------> {node.failed_at}")
    lines.append(statement_text(node))
    types = f"      : ({', '.join(map(abstract_text, node.inputs))})"
    if node.output is not None:
        types += f" -> ({abstract_text(node.output)})"
    lines.append(types)
    lines += [f"      : {layout}" for layout in node.layouts]
    lines += [f"      {comment}" for comment in comments(node)]
    return lines


def comments(node: ir.IRNode) -> list[str]:
    lines = []
    if node.full_name:
        lines.append(f"# Fullname with scope: ({node.full_name})")
    elif node.scope:
        lines.append(f"# Scope: ({node.scope})")
    if node.side_effects:
        lines.append(effects_text(node.side_effects))
    if node.remarks:
        lines.append("# Comment:")
        lines += [f"  # {remark}" for remark in node.remarks]
    lines += map(source_text, node.sources)
    if node.forward_sources:
        lines.append("# Corresponding forward node candidate:")
        lines += map(source_text, node.forward_sources)
    if node.similar_sources:
        lines.append("# Corresponding code candidate:")
        lines += map(source_text, node.similar_sources)
    return lines


def effects_text(effects: tuple[str, ...]) -> str:
    return f"# SideEffect: {{ {' '.join(effects)} }}"


# Subgraphs and modules


def parameter_text(parameter: ir.Parameter) -> str:
    abstract = abstract_text(parameter.abstract) if parameter.abstract else "<null>"
    text = f"%{parameter.label}: {abstract}"
    if parameter.symbols:
        text += f" : {parameter.symbols}"
    if parameter.has_default:
        text += "  :  has_default"
    if parameter.layout:
        text += f"  :  <{parameter.layout}>"
    if parameter.is_weight is not None:
        text += f"  :  IsWeight: {str(parameter.is_weight).lower()}"
    return text


def pairs_lines(pairs: Mapping[str, str]) -> list[str]:
    return [f"{key}: {text}" for key, text in pairs.items()]


def subgraph_lines(graph: ir.Subgraph, is_entry: bool) -> list[str]:
    # The parameters of the entry are those of the module.
    own = () if is_entry else graph.parameters
    lines = ["subgraph attr:", *pairs_lines(graph.attrs)]
    lines.append(f"subgraph instance: {graph.name} : 0x1")
    if not is_entry:
        abstracts = [parameter.abstract for parameter in own]
        types = [abstract_text(abstract) for abstract in abstracts if abstract is not None]
        lines.append(f"# Parameters: {len(own)}, ({', '.join(types)})")
    if graph.side_effects:
        lines.append(effects_text(graph.side_effects))
    lines += map(source_text, graph.sources)
    parent = f" parent: [subgraph @{graph.parent}]" if graph.parent else ""
    labels = ", ".join(f"%{parameter.label}" for parameter in own)
    lines.append(f"subgraph @{graph.name}{parent}({labels}) {{")
    for node in graph.nodes:
        lines += node_lines(node)
    if graph.returned:
        lines += node_lines(graph.returned)
    lines += ["}", "# Order:"]
    lines += [f"#   1: @{graph.name}:{node.name}{{[0]: x}}" for node in graph.nodes]
    return [*lines, "", ""]


def module_text(module: ir.Module) -> str:
    lines = [f"# IR entry: @{module.entry}", f"# Total subgraphs: {len(module.subgraphs)}", ""]
    if module.config:
        lines += ["jit config {", *pairs_lines(module.config), "}", ""]
    if module.attrs:
        lines += ["# Attrs:", *pairs_lines(module.attrs), ""]
    lines.append(f"# Total params: {len(module.parameters)}")
    if module.parameters:
        lines.append("# Params:")
    lines += [*map(parameter_text, module.parameters), "", "Node counting information:"]
    lines += ["Total number of nodes: 1", "Total number of cnodes: 1", ""]
    for graph in module.subgraphs:
        lines += subgraph_lines(graph, graph.name == module.entry)
    return "\n".join(lines)
