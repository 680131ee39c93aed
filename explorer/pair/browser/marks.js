// A node marked together with its partner and its path: pale under the pointer, firm when chosen.

function mark(view, side, id, style) {
  frame(view.panes[side], id, style)
  for (const other of partners(view, side, id)) frame(view.panes[OTHER[side]], other, style)
}

function unmark(view, style) {
  for (const side of SIDES) unframe(view.panes[side], style)
}

// Lights a node, its partner, and the edges of all that leads to it and comes from it.
function light(view, side, id) {
  unlight(view)
  mark(view, side, id, 'pale')
  trace(view.panes[side], id)
  const [partner] = partners(view, side, id)
  if (partner) trace(view.panes[OTHER[side]], partner)
}

function unlight(view) {
  unmark(view, 'pale')
  for (const side of SIDES) {
    const pane = view.panes[side]
    pane.element.classList.remove('tracing')
    for (const element of pane.lit || []) element.classList.remove('path')
    pane.lit = []
  }
}

function trace(pane, id) {
  const above = reach(pane, id, 'before')
  const below = reach(pane, id, 'after')
  pane.element.classList.add('tracing')
  for (const wire of pane.wires) {
    const { from, to } = wire.dataset
    const isOnPath = (above.has(from) && above.has(to)) || (below.has(from) && below.has(to))
    if (isOnPath) pane.lit.push(wire)
  }
  for (const node of [...above, ...below]) {
    if (pane.picks.has(node)) pane.lit.push(pane.picks.get(node))
  }
  for (const element of pane.lit) element.classList.add('path')
}

// A node and all that can be reached from it, against the edges ("before") or along them ("after").
function reach(pane, id, way) {
  const reached = new Set([id])
  const waiting = [id]
  while (waiting.length) {
    for (const next of pane.data.nodes[waiting.pop()]?.[way] || []) {
      if (reached.has(next)) continue
      reached.add(next)
      waiting.push(next)
    }
  }
  return reached
}

function showChosen(view) {
  unmark(view, 'chosen')
  const { node } = view.state
  if (node) mark(view, node.side, node.id, 'chosen')
  showPanel(view)
}

// Chooses a node, or none; its partner is brought into sight.
function choose(view, node) {
  view.state.node = node && view.panes[node.side].picks.has(node.id) ? node : null
  showChosen(view)
  if (view.state.node) bringPartner(view, node.side, node.id)
  view.tell()
}

function bringPartner(view, side, id) {
  const other = view.panes[OTHER[side]]
  const [partner] = partners(view, side, id)
  if (!partner) return
  if (view.state.follow && isInSight(view.panes[side], id)) {
    view.panes[side].anchor = id
    place(other, partner, placeOf(view.panes[side], id))
  }
  reveal(other, partner)
}
