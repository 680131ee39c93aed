// Two graphs side by side: pan, zoom, find, and a node marked together with its pair.
// All texts come as data, none as markup, but for the two SVGs, which are the explorer's own
// drawings with every label escaped.

const SIDES = ['left', 'right']
const OTHER = { left: 'right', right: 'left' }

const LEGIBLE = 0.6 // a graph is first shown at this scale or larger, from its top
const SMALLEST = 0.02
const LARGEST = 4
const WHEEL_STEP = 1.15 // the factor of one notch
const KEY_STEP = 60 // pixels that an arrow key moves
const DRAG_START = 4 // pixels: a hand that clicks moves a little
const TALLEST = { beside: 620, above: 420 } // pixels of a pane
const NARROW = 640 // below this width the panes stand one above the other
const MUCH_LARGER = 1.4 // and above it, where that shows the drawings larger by this factor
const MARGIN = 8
const MIDDLE_GREY = 3 * 128 // the sum of red, green and blue

// Pane -> its drawing, its nodes by id, and the part in sight.
const views = new WeakMap()

// Streamlit calls this whenever the data change, on the same elements.
export default function ({ data, parentElement: root, setStateValue }) {
  const panes = {}
  for (const side of SIDES) {
    panes[side] = root.querySelector(`[data-side=${side}]`)
    panes[side].previousElementSibling.textContent = data[side].caption
    load(panes[side], data[side])
  }
  root.querySelector('.panes').dataset.theme = theme(root.querySelector('.bar'))

  const pair = pairMarker(root, panes, data.pairs)
  const choose = (side, id) => {
    pair.select(side, id)
    setStateValue('selected', { side, id })
  }
  for (const side of SIDES) {
    listenToPointer(root, panes[side], side, pair, choose)
    listenToKeys(panes[side])
  }
  listenToSearch(root, panes, choose)
  listenToButtons(root, panes)
  arrange(root, panes, undefined)
  pair.restore(data.selected)

  const observer = new ResizeObserver(entries => entries.forEach(entry => resized(entry.target)))
  SIDES.forEach(side => observer.observe(panes[side]))
  return () => observer.disconnect()
}

// What marks a node of one side together with the nodes that it is paired with on the other.
function pairMarker(root, panes, pairs) {
  const nodeOf = (side, id) => views.get(panes[side]).picks.get(id)
  const partners = (side, id) => {
    const ids = pairs[side][id] || []
    return ids.map(other => nodeOf(OTHER[side], other)).filter(Boolean)
  }
  const mark = (side, id, style) => {
    if (nodeOf(side, id)) frame(panes[side], nodeOf(side, id), style)
    partners(side, id).forEach(node => frame(panes[OTHER[side]], node, style))
  }
  const select = (side, id) => {
    unmark(root, 'chosen')
    mark(side, id, 'chosen')
    const [partner] = partners(side, id)
    if (partner) reveal(panes[OTHER[side]], partner)
  }
  const restore = selected => {
    unmark(root, 'chosen')
    if (selected && nodeOf(selected.side, selected.id)) mark(selected.side, selected.id, 'chosen')
  }
  return { mark, select, restore }
}

// The wheel zooms, dragging pans, a click chooses, and hovering marks in pale.
function listenToPointer(root, pane, side, pair, choose) {
  let drag = null
  pane.onwheel = event => {
    event.preventDefault()
    zoom(pane, event.deltaY > 0 ? 1 / WHEEL_STEP : WHEEL_STEP, pointIn(pane, event))
  }
  pane.onpointerdown = event => {
    drag = { x: event.clientX, y: event.clientY, moved: false }
  }
  pane.onpointermove = event => {
    if (!drag) return
    const dx = event.clientX - drag.x
    const dy = event.clientY - drag.y
    if (!drag.moved && Math.hypot(dx, dy) < DRAG_START) return
    // Captured only now: a pane that captures the pointer takes the click away from its nodes.
    if (!drag.moved) pane.setPointerCapture(event.pointerId)
    drag = { x: event.clientX, y: event.clientY, moved: true }
    pan(pane, -dx, -dy)
  }
  pane.onpointerup = event => {
    const id = idAt(event)
    if (drag && !drag.moved && id) choose(side, id)
    drag = null
  }
  pane.onpointercancel = () => { drag = null }
  pane.onpointerover = event => {
    unmark(root, 'pale')
    const id = idAt(event)
    if (id) pair.mark(side, id, 'pale')
  }
  pane.onpointerleave = () => unmark(root, 'pale')
}

const KEYS = {
  ArrowLeft: pane => pan(pane, -KEY_STEP, 0),
  ArrowRight: pane => pan(pane, KEY_STEP, 0),
  ArrowUp: pane => pan(pane, 0, -KEY_STEP),
  ArrowDown: pane => pan(pane, 0, KEY_STEP),
  '+': pane => zoom(pane, 1.25),
  '-': pane => zoom(pane, 0.8),
  0: pane => fit(pane),
}

function listenToKeys(pane) {
  pane.onkeydown = event => {
    const act = KEYS[event.key]
    if (!act) return
    event.preventDefault()
    act(pane)
  }
}

function listenToSearch(root, panes, choose) {
  const field = root.querySelector('input')
  let hits = []
  field.oninput = () => {
    hits = find(panes, field.value)
    const isSearching = Boolean(field.value.trim())
    root.querySelector('.found').textContent = isSearching ? `${hits.length} found` : ''
    if (hits.length) reveal(panes[hits[0].side], hits[0].node)
  }
  field.onkeydown = event => {
    if (event.key === 'Enter' && hits.length) choose(hits[0].side, hits[0].id)
  }
}

function listenToButtons(root, panes) {
  for (const button of root.querySelectorAll('[data-zoom]')) {
    const factor = Number(button.dataset.zoom)
    button.onclick = () => SIDES.forEach(side => zoom(panes[side], factor))
  }
  root.querySelector('[data-layout]').onclick = () => {
    const isStacked = root.querySelector('.panes').classList.contains('stacked')
    arrange(root, panes, !isStacked)
  }
  root.querySelector('[data-fit]').onclick = () => SIDES.forEach(side => fit(panes[side]))
}

// The drawings take their colours from the page's theme, which a visitor may have chosen against
// the system's: light text means a dark page.
function theme(text) {
  const [red, green, blue] = getComputedStyle(text).color.match(/[\d.]+/g).map(Number)
  return red + green + blue > MIDDLE_GREY ? 'dark' : 'light'
}

// Beside each other, or one above the other: as asked, else as it was, else whichever shows the
// drawings larger.
function arrange(root, panes, stacked) {
  const box = root.querySelector('.panes')
  const keys = SIDES.map(side => views.get(panes[side]).key).join(' ')
  if (stacked === undefined && box.dataset.arranged === keys) return
  box.dataset.arranged = keys
  const sizes = SIDES.map(side => views.get(panes[side]).size)
  const above = stacked ?? showsLargerAbove(sizes, box.clientWidth)
  box.classList.toggle('stacked', above)
  root.querySelector('[data-layout]').textContent = above ? 'Side by side' : 'One above the other'

  const tallest = above ? TALLEST.above : TALLEST.beside
  const width = (above ? box.clientWidth : box.clientWidth / 2) - 2 * MARGIN
  const heights = sizes.map(size => {
    const scale = Math.max(wholeScale(size, width, tallest), LEGIBLE)
    return Math.min(tallest, Math.ceil(size.height * scale) + 2 * MARGIN)
  })
  SIDES.forEach((side, index) => {
    // Beside each other both are as tall as the taller one.
    panes[side].style.height = `${above ? heights[index] : Math.max(...heights)}px`
    fit(panes[side], LEGIBLE)
  })
}

function showsLargerAbove(sizes, width) {
  if (width < NARROW) return true
  const least = (paneWidth, height) =>
    Math.min(...sizes.map(size => wholeScale(size, paneWidth, height)))
  return least(width, TALLEST.above) > MUCH_LARGER * least(width / 2, TALLEST.beside)
}

// The scale at which a whole drawing fits into a box; never enlarged.
function wholeScale(size, width, height) {
  return Math.min(width / size.width, height / size.height, 1)
}

// Replaces a drawing only when it is another one, so that a rerun of the page keeps place and scale.
function load(pane, { key, svg: text, prefix }) {
  if (views.get(pane)?.key === key) return
  pane.innerHTML = text
  const svg = pane.querySelector('svg')
  const box = svg.viewBox.baseVal
  const size = { x: box.x, y: box.y, width: box.width, height: box.height }
  svg.removeAttribute('width')
  svg.removeAttribute('height')
  const picks = pickable(svg, prefix)
  views.set(pane, { key, svg, picks, placed: false, size, scale: 1, x: 0, y: 0 })
  fit(pane, LEGIBLE)
}

// The elements that stand for nodes, by the nodes' ids.
function pickable(svg, prefix) {
  const picks = new Map()
  for (const element of svg.querySelectorAll(`[id^="${prefix}n"]`)) {
    const id = element.id.slice(prefix.length)
    if (!/^n\d+$/.test(id)) continue
    element.classList.add('pick')
    element.dataset.pick = id
    picks.set(id, element)
  }
  return picks
}

// A pane that gets its first width, or another one: the drawing is fitted once, then only redrawn.
function resized(pane) {
  if (!pane.clientWidth) return
  if (views.get(pane).placed) draw(pane)
  else fit(pane, LEGIBLE)
}

// Shows the whole drawing; with a least scale, as much of it as that leaves, from the top and the
// middle.
function fit(pane, least = 0) {
  const view = views.get(pane)
  const { x, y, width, height } = view.size
  const room = { width: pane.clientWidth - 2 * MARGIN, height: pane.clientHeight - 2 * MARGIN }
  view.scale = Math.max(wholeScale(view.size, room.width, room.height), least, SMALLEST)
  view.placed = pane.clientWidth > 0
  view.x = x + (width - pane.clientWidth / view.scale) / 2
  const isTooTall = height * view.scale > pane.clientHeight
  const centred = y + (height - pane.clientHeight / view.scale) / 2
  view.y = isTooTall ? y - MARGIN / view.scale : centred
  draw(pane)
}

function draw(pane) {
  if (!pane.clientWidth) return
  const view = views.get(pane)
  const { width, height } = inSight(pane)
  view.svg.setAttribute('viewBox', `${view.x} ${view.y} ${width} ${height}`)
}

// The size of the part in sight, in the drawing's own units.
function inSight(pane) {
  const { scale } = views.get(pane)
  return { width: pane.clientWidth / scale, height: pane.clientHeight / scale }
}

function pan(pane, dx, dy) {
  const view = views.get(pane)
  view.x += dx / view.scale
  view.y += dy / view.scale
  draw(pane)
}

// Zooms about a point of the pane, which stays where it is; by default its middle.
function zoom(pane, factor, at = { x: pane.clientWidth / 2, y: pane.clientHeight / 2 }) {
  const view = views.get(pane)
  const scale = Math.min(Math.max(view.scale * factor, SMALLEST), LARGEST)
  view.x += at.x / view.scale - at.x / scale
  view.y += at.y / view.scale - at.y / scale
  view.scale = scale
  draw(pane)
}

// Moves a node into the middle of its pane unless it is in sight.
function reveal(pane, node) {
  const view = views.get(pane)
  const box = boxOf(view, node)
  const { width, height } = inSight(pane)
  const isInWidth = box.x > view.x && box.x + box.width < view.x + width
  const isInHeight = box.y > view.y && box.y + box.height < view.y + height
  if (isInWidth && isInHeight) return
  view.x = box.x + box.width / 2 - width / 2
  view.y = box.y + box.height / 2 - height / 2
  draw(pane)
}

// Where a node is in the drawing's own units, whatever it is nested in.
function boxOf(view, node) {
  const box = node.getBBox()
  const matrix = view.svg.getScreenCTM().inverse().multiply(node.getScreenCTM())
  const corner = new DOMPoint(box.x, box.y).matrixTransform(matrix)
  const width = box.width * matrix.a
  const height = box.height * matrix.d
  return { x: corner.x, y: corner.y, width, height }
}

function frame(pane, node, style) {
  const view = views.get(pane)
  const box = boxOf(view, node)
  const rect = document.createElementNS('http://www.w3.org/2000/svg', 'rect')
  const attributes = {
    x: box.x - 3,
    y: box.y - 3,
    width: box.width + 6,
    height: box.height + 6,
    class: `frame ${style}`,
  }
  for (const [name, value] of Object.entries(attributes)) rect.setAttribute(name, value)
  view.svg.append(rect)
}

function unmark(root, style) {
  for (const rect of root.querySelectorAll(`.frame.${style}`)) rect.remove()
}

// The nodes of both sides whose texts or data hold what is searched for; they are marked as hits.
function find(panes, text) {
  const words = text.trim().toLowerCase()
  const hits = []
  for (const side of SIDES) {
    panes[side].classList.toggle('searching', Boolean(words))
    for (const [id, node] of views.get(panes[side]).picks) {
      const searchable = [node.textContent, ...Object.values(node.dataset)].join(' ').toLowerCase()
      const isHit = Boolean(words) && searchable.includes(words)
      node.classList.toggle('hit', isHit)
      if (isHit) hits.push({ side, id, node })
    }
  }
  return hits
}

function pointIn(pane, event) {
  const box = pane.getBoundingClientRect()
  return { x: event.clientX - box.left, y: event.clientY - box.top }
}

function idAt(event) {
  return event.target.closest?.('.pick')?.dataset.pick
}
