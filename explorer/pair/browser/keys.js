// The keyboard: arrows between nodes, Enter, Escape, the divergences, the search, the steps.

const KEY_STEP = 60 // pixels that Shift and an arrow key move
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }
const ASIDE = 2 // how much more a step aside counts than one ahead

const KEYS = {
  Enter: view => { if (view.cursor) choose(view, view.cursor) },
  Escape: view => escapeAll(view),
  n: view => goToDivergence(view, 1),
  p: view => goToDivergence(view, -1),
  '/': view => {
    showControls(view, true)
    view.root.querySelector('input[type=search]').focus()
  },
  ' ': view => play(view),
  ',': view => goToStep(view, (view.state.step ?? lastStep(view)) - 1),
  '.': view => goToStep(view, (view.state.step ?? 0) + 1),
  '+': (view, side) => zoomBoth(view, side, 1.25),
  '-': (view, side) => zoomBoth(view, side, 0.8),
  0: view => SIDES.forEach(side => fit(view.panes[side])),
  '?': view => { const help = view.root.querySelector('.help'); help.open = !help.open },
}

function listenToKeys(view) {
  view.root.querySelector('.explorer').onkeydown = event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const typed = event.target.matches('input, select, button, summary, .sign')
    if (typed && event.key !== 'Escape') return
    const side = event.target.dataset?.side || view.state.node?.side || 'left'
    const act = ARROWS[event.key] ? arrow(event) : KEYS[event.key]
    if (!act) return
    event.preventDefault()
    act(view, side)
  }
}

function arrow(event) {
  const [x, y] = ARROWS[event.key]
  if (event.shiftKey) {
    return (view, side) => {
      pan(view.panes[side], x * KEY_STEP, y * KEY_STEP)
      followPane(view, side)
    }
  }
  return (view, side) => moveCursor(view, side, x, y)
}

// The nearest node in a direction; the first move goes to the chosen node or the one in the middle.
function moveCursor(view, side, x, y) {
  const pane = view.panes[side]
  const { node } = view.state
  const start = view.cursor?.side === side ? view.cursor : node?.side === side ? node : null
  const id = start && pane.boxes.has(start.id) ? nextIn(pane, start.id, x, y) : firstIn(pane)
  if (!id) return
  view.cursor = { side, id }
  reveal(pane, id)
  light(view, side, id)
  view.root.querySelector('.cursor').textContent = pane.data.nodes[id].title
}

function firstIn(pane) {
  return [...pane.picks.keys()].find(id => isInSight(pane, id)) || pane.data.course[0]
}

function nextIn(pane, from, x, y) {
  const here = placeOf(pane, from)
  let nearest = null
  let least = Infinity
  for (const id of pane.picks.keys()) {
    const there = placeOf(pane, id)
    const ahead = (there.x - here.x) * x + (there.y - here.y) * y
    const aside = Math.abs((there.x - here.x) * y) + Math.abs((there.y - here.y) * x)
    const distance = ahead + ASIDE * aside
    if (id !== from && ahead > 1 && distance < least) [nearest, least] = [id, distance]
  }
  return nearest
}

function escapeAll(view) {
  const field = view.root.querySelector('input[type=search]')
  pause(view)
  view.cursor = null
  view.words = field.value = ''
  unlight(view)
  choose(view, null)
  paint(view)
}

// The next place where the graphs part, or the one before.
function goToDivergence(view, way) {
  const places = view.data.divergences
  if (!places.length) return
  const next = view.divergence === null ? (way > 0 ? 0 : -1) : view.divergence + way
  showDivergence(view, (next + places.length) % places.length)
}

function showDivergence(view, index) {
  view.divergence = index
  const { left, right } = view.data.divergences[index]
  const side = left && view.panes.left.picks.has(left) ? 'left' : 'right'
  const id = side === 'left' ? left : right
  if (!view.panes[side].picks.has(id)) return
  reveal(view.panes[side], id)
  choose(view, { side, id })
}
