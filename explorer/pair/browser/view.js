// Two graphs side by side: a function of its data, and of what a visitor does. All texts come as
// data and are shown as text.

const TALLEST = { beside: 620, above: 420, narrow: 360 } // pixels of a pane
const NARROW = 640 // below this width the panes stand one above the other
const MUCH_LARGER = 1.4 // and above it, where that shows drawings that are not small larger by this factor
const MIDDLE_GREY = 3 * 128 // the sum of red, green and blue
const TELL_AFTER = 250 // milliseconds: of several changes in a row only the last is told

// A view on elements that stand in `root`; `tell` is called with what was chosen.
function mount(root, tell) {
  const view = {
    root,
    panes: {},
    data: null,
    state: { node: null, step: null, only: '', follow: true, opened: new Set(), folded: new Set() },
    revision: null,
    words: '',
    hits: [],
    cursor: null,
    divergence: null,
    timer: null,
  }
  for (const side of SIDES) {
    const element = root.querySelector(`[data-side=${side}]`)
    view.panes[side] = { element, room: { width: 0, height: 0 }, scale: 1, x: 0, y: 0 }
  }
  let waiting = null
  view.tell = () => {
    clearTimeout(waiting)
    waiting = setTimeout(() => tell(toldState(view)), TELL_AFTER)
  }
  view.observer = new ResizeObserver(() => SIDES.forEach(side => resized(view.panes[side])))
  view.has = ''
  view.update = (data, isNew = true) => update(view, data, isNew)
  view.end = () => view.observer.disconnect()
  return view
}

// Begins with the first data: before them there is nothing to point at.
function listen(view) {
  SIDES.forEach(side => listenToPointer(view, side))
  listenToBar(view)
  listenToKeys(view)
}

// Data that are not new are those of the last call, with another state.
function update(view, data, isNew) {
  if (!isNew && view.revision === data.state.revision) {
    SIDES.forEach(side => view.observer.observe(view.panes[side].element))
    return
  }
  const isFirst = !view.data
  view.data = data
  fillWords(view)
  for (const side of SIDES) {
    const pane = view.panes[side]
    pane.element.previousElementSibling.textContent = data[side].caption
    load(pane, data[side])
    addFoldSigns(view, side)
    view.observer.observe(pane.element)
  }
  view.root.querySelector('.explorer').dataset.theme = theme(view.root.querySelector('.bar'))
  arrange(view, undefined)
  if (view.revision !== data.state.revision) adopt(view, data.state)
  if (view.state.node && !view.panes[view.state.node.side].picks.has(view.state.node.id)) {
    view.state.node = null
    view.tell()
  }
  showChosen(view)
  showStep(view)
  showPlaying(view)
  paint(view)
  view.root.querySelector('option[value=new]').hidden = !counted(view, 'new')
  view.root.querySelector('[data-divergence]').disabled = !data.divergences.length
  if (isFirst) listen(view)
}

// Takes over what the address says, or what other graphs begin with; whatever was told before is
// older than that.
function adopt(view, state) {
  pause(view)
  view.divergence = null
  view.revision = state.revision
  view.state = {
    node: nodeOf(state.node),
    step: state.step,
    only: state.only,
    follow: state.follow,
    opened: new Set(state.opened),
    folded: new Set(state.folded),
  }
  view.root.querySelector('[data-only]').value = state.only
  view.root.querySelector('[data-follow]').checked = state.follow
  const { node } = view.state
  if (node && view.panes[node.side]?.picks.has(node.id)) {
    reveal(view.panes[node.side], node.id)
    bringPartner(view, node.side, node.id)
  }
}

function nodeOf(text) {
  const [side, id] = (text || '').split(':')
  return SIDES.includes(side) && id ? { side, id } : null
}

function toldState(view) {
  const { node, step, only, follow, opened, folded } = view.state
  return {
    revision: view.revision,
    has: view.has,
    node: node ? `${node.side}:${node.id}` : '',
    step,
    only,
    follow,
    opened: [...opened].sort(),
    folded: [...folded].sort(),
  }
}

// A text that the page says, in the singular for one, with its places filled.
function say(view, name, values = {}) {
  const words = view.data?.words || {}
  const text = (values.n === 1 && words[`${name}_one`]) || words[name] || name
  return text.replace(/\{(\w+)\}/g, (_, place) => values[place] ?? '')
}

function label(element, text) {
  element.setAttribute('aria-label', text)
  element.title = text
}

function fillWords(view) {
  for (const element of view.root.querySelectorAll('[data-word]')) {
    element.textContent = say(view, element.dataset.word)
  }
  for (const element of view.root.querySelectorAll('[data-label]')) {
    label(element, say(view, element.dataset.label))
  }
  const field = view.root.querySelector('input[type=search]')
  field.placeholder = say(view, 'search_hint')
}

// The drawings take their colours from the page's theme, which a visitor may have chosen against
// the system's: light text means a dark page.
function theme(text) {
  const [red, green, blue] = getComputedStyle(text).color.match(/[\d.]+/g).map(Number)
  return red + green + blue > MIDDLE_GREY ? 'dark' : 'light'
}

// Beside each other, or one above the other: as asked, else as it was, else beside each other where
// both can be read whole, else whichever shows the drawings larger.
function arrange(view, stacked) {
  const box = view.root.querySelector('.panes')
  const graphs = SIDES.map(side => view.panes[side].data.graph).join(' ')
  if (stacked === undefined && box.dataset.arranged === graphs) return
  box.dataset.arranged = graphs
  const sizes = SIDES.map(side => view.panes[side].size)
  const above = stacked ?? showsLargerAbove(sizes, box.clientWidth)
  box.classList.toggle('stacked', above)
  const layout = view.root.querySelector('[data-layout]')
  layout.textContent = say(view, above ? 'side_by_side' : 'one_above')

  const isNarrow = box.clientWidth < NARROW
  const tallest = isNarrow ? TALLEST.narrow : above ? TALLEST.above : TALLEST.beside
  const width = (above ? box.clientWidth : box.clientWidth / 2) - 2 * MARGIN
  const heights = sizes.map(size => {
    const scale = firstScale(size, width, tallest)
    return Math.min(tallest, Math.ceil(size.height * scale) + 2 * MARGIN)
  })
  SIDES.forEach((side, index) => {
    // Beside each other both are as tall as the taller one.
    const height = above ? heights[index] : Math.max(...heights)
    view.panes[side].element.style.height = `${height}px`
    fitFirst(view.panes[side])
  })
}

function showsLargerAbove(sizes, width) {
  if (width < NARROW) return true
  const least = (paneWidth, height) =>
    Math.min(...sizes.map(size => wholeScale(size, paneWidth, height)))
  const beside = least(width / 2 - 2 * MARGIN, TALLEST.beside)
  if (beside >= LEGIBLE) return false
  return least(width, TALLEST.above) > MUCH_LARGER * beside
}

// A pane that gets its first width, or another one: the drawing is fitted once, then only redrawn.
function resized(pane) {
  if (!pane.element.clientWidth || !pane.svg) return
  measure(pane)
  if (pane.placed) draw(pane)
  else fitFirst(pane)
}
