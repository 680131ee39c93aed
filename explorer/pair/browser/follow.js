// Panes that follow each other: the partner of a node in one stands where the node does in the other.

const SIDES = ['left', 'right']
const OTHER = { left: 'right', right: 'left' }

function partners(view, side, id) {
  const ids = view.data.pairs[side][id] || []
  return ids.filter(other => view.panes[OTHER[side]].picks.has(other))
}

// The other pane comes after; `factor` is how much the scale has changed.
function followPane(view, side, factor = 1) {
  if (!view.state.follow) return
  const other = view.panes[OTHER[side]]
  if (factor !== 1) zoom(other, factor)
  const anchor = anchorOf(view, side)
  if (!anchor) return
  place(other, anchor.partner, placeOf(view.panes[side], anchor.id))
}

// The node that is followed: the chosen one, or the last one, while in sight, else the nearest to the middle.
function anchorOf(view, side) {
  const pane = view.panes[side]
  const chosen = view.state.node?.side === side ? view.state.node.id : null
  for (const id of [chosen, pane.anchor]) {
    const [partner] = id && pane.picks.has(id) && isInSight(pane, id) ? partners(view, side, id) : []
    if (partner) return { id, partner }
  }
  const nearest = nearestPaired(view, side)
  pane.anchor = nearest?.id
  return nearest
}

function nearestPaired(view, side) {
  const pane = view.panes[side]
  const middle = middleOf(pane)
  let nearest = null
  let least = Infinity
  for (const id of pane.picks.keys()) {
    const [partner] = partners(view, side, id)
    if (!partner) continue
    const far = distance(placeOf(pane, id), middle)
    if (far < least) [nearest, least] = [{ id, partner }, far]
  }
  return nearest
}
