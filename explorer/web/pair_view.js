// Two graphs side by side: pan, zoom, find, and a node marked together with its pair. All texts come as data, none as markup,
// but for the two SVGs, which are the explorer's own drawings with every label escaped.
const SIDES = ['left', 'right']
const OTHER = { left: 'right', right: 'left' }
const LEGIBLE = 0.6 // a graph is first shown at this scale or larger, from its top
const SMALLEST = 0.02
const LARGEST = 4
const TALLEST = { beside: 620, above: 420 } // pixels of a pane
const NARROW = 640
const MARGIN = 8
const views = new WeakMap() // pane -> its drawing, its nodes by id, and the part in sight

export default function ({ data, parentElement: root, setStateValue }) {
  const panes = Object.fromEntries(SIDES.map(side => [side, root.querySelector(`[data-side=${side}]`)]))
  for (const side of SIDES) {
    panes[side].previousElementSibling.textContent = data[side].caption
    load(panes[side], data[side])
  }
  root.querySelector('.panes').dataset.theme = theme(root.querySelector('.bar'))
  const nodeOf = (side, id) => views.get(panes[side]).picks.get(id)
  const pairsOf = (side, id) => (data.pairs[side][id] || []).filter(other => nodeOf(OTHER[side], other))

  const mark = (side, id, style) => {
    if (nodeOf(side, id)) frame(panes[side], nodeOf(side, id), style)
    for (const other of pairsOf(side, id)) frame(panes[OTHER[side]], nodeOf(OTHER[side], other), style)
  }
  const select = (side, id) => {
    unmark(root, 'chosen')
    mark(side, id, 'chosen')
    for (const other of pairsOf(side, id).slice(0, 1)) reveal(panes[OTHER[side]], nodeOf(OTHER[side], other))
  }
  const choose = (side, id) => { select(side, id); setStateValue('selected', { side, id }) }

  for (const side of SIDES) {
    const pane = panes[side]
    let drag = null
    pane.onwheel = event => { event.preventDefault(); zoom(pane, event.deltaY > 0 ? 1 / 1.15 : 1.15, pointIn(pane, event)) }
    pane.onpointerdown = event => { drag = { x: event.clientX, y: event.clientY, moved: false } }
    pane.onpointermove = event => {
      if (!drag) return
      const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y]
      if (!drag.moved && Math.hypot(dx, dy) < 4) return
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
      if (id) mark(side, id, 'pale')
    }
    pane.onpointerleave = () => unmark(root, 'pale')
    pane.onkeydown = event => {
      const act = KEYS[event.key]
      if (act) { event.preventDefault(); act(pane) }
    }
  }
  const field = root.querySelector('input')
  let hits = []
  field.oninput = () => {
    hits = find(panes, field.value)
    root.querySelector('.found').textContent = field.value.trim() ? `${hits.length} found` : ''
    if (hits.length) reveal(panes[hits[0].side], hits[0].node)
  }
  field.onkeydown = event => { if (event.key === 'Enter' && hits.length) choose(hits[0].side, hits[0].id) }
  for (const button of root.querySelectorAll('[data-zoom]')) {
    button.onclick = () => SIDES.forEach(side => zoom(panes[side], Number(button.dataset.zoom)))
  }
  arrange(root, panes, undefined)
  root.querySelector('[data-layout]').onclick = () => arrange(root, panes, !root.querySelector('.panes').classList.contains('stacked'))
  root.querySelector('[data-fit]').onclick = () => SIDES.forEach(side => fit(panes[side]))
  unmark(root, 'chosen')
  if (data.selected && nodeOf(data.selected.side, data.selected.id)) mark(data.selected.side, data.selected.id, 'chosen')

  const observer = new ResizeObserver(entries => entries.forEach(entry => resized(entry.target)))
  SIDES.forEach(side => observer.observe(panes[side]))
  return () => observer.disconnect()
}

// The drawings take their colours from the page's theme, which a visitor may have chosen against the system's.
function theme(text) {
  const [red, green, blue] = getComputedStyle(text).color.match(/[\d.]+/g).map(Number)
  return red + green + blue > 384 ? 'dark' : 'light'
}

// Beside each other, or one above the other: as asked, else as it was, else whichever shows the drawings larger.
function arrange(root, panes, stacked) {
  const box = root.querySelector('.panes')
  const keys = SIDES.map(side => views.get(panes[side]).key).join(' ')
  if (stacked === undefined && box.dataset.arranged === keys) return
  box.dataset.arranged = keys
  const sizes = SIDES.map(side => views.get(panes[side]).size)
  const whole = (size, width, height) => Math.min(width / size.width, height / size.height, 1)
  const least = (width, height) => Math.min(...sizes.map(size => whole(size, width, height)))
  const wide = box.clientWidth
  const above = stacked ?? (wide < NARROW || least(wide, TALLEST.above) > 1.4 * least(wide / 2, TALLEST.beside))
  box.classList.toggle('stacked', above)
  root.querySelector('[data-layout]').textContent = above ? 'Side by side' : 'One above the other'
  const tallest = above ? TALLEST.above : TALLEST.beside
  const heights = sizes.map(size => {
    const scale = Math.max(whole(size, (above ? wide : wide / 2) - 2 * MARGIN, tallest), LEGIBLE)
    return Math.min(tallest, Math.ceil(size.height * scale) + 2 * MARGIN)
  })
  SIDES.forEach((side, index) => {
    panes[side].style.height = `${above ? heights[index] : Math.max(...heights)}px`
    fit(panes[side], LEGIBLE)
  })
}

// Replaces a drawing only when it is another one, so that a rerun of the page keeps place and scale.
function load(pane, { key, svg: text, prefix }) {
  if (views.get(pane)?.key === key) return
  pane.innerHTML = text
  const svg = pane.querySelector('svg')
  const box = svg.viewBox.baseVal
  svg.removeAttribute('width')
  svg.removeAttribute('height')
  const picks = new Map()
  for (const node of svg.querySelectorAll(`[id^="${prefix}n"]`)) {
    const id = node.id.slice(prefix.length)
    if (!/^n\d+$/.test(id)) continue
    node.classList.add('pick')
    node.dataset.pick = id
    picks.set(id, node)
  }
  views.set(pane, { key, svg, picks, placed: false, size: { x: box.x, y: box.y, width: box.width, height: box.height }, scale: 1, x: 0, y: 0 })
  fit(pane, LEGIBLE)
}

// A pane that gets its first width, or another one: the drawing is fitted once, and then only redrawn.
function resized(pane) {
  const view = views.get(pane)
  if (!pane.clientWidth) return
  if (!view.placed) fit(pane, LEGIBLE)
  else draw(pane)
}

// Shows the whole drawing; with a least scale, as much of it as that leaves, from the top and the middle.
function fit(pane, least = 0) {
  const view = views.get(pane)
  const { x, y, width, height } = view.size
  const whole = Math.min((pane.clientWidth - 2 * MARGIN) / width, (pane.clientHeight - 2 * MARGIN) / height, 1)
  view.scale = Math.max(whole, least, SMALLEST)
  view.placed = pane.clientWidth > 0
  view.x = x + (width - pane.clientWidth / view.scale) / 2
  view.y = height * view.scale > pane.clientHeight ? y - MARGIN / view.scale : y + (height - pane.clientHeight / view.scale) / 2
  draw(pane)
}

function draw(pane) {
  const view = views.get(pane)
  if (pane.clientWidth) view.svg.setAttribute('viewBox', `${view.x} ${view.y} ${pane.clientWidth / view.scale} ${pane.clientHeight / view.scale}`)
}

function pan(pane, dx, dy) {
  const view = views.get(pane)
  view.x += dx / view.scale
  view.y += dy / view.scale
  draw(pane)
}

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
  const [width, height] = [pane.clientWidth / view.scale, pane.clientHeight / view.scale]
  const inside = box.x > view.x && box.y > view.y && box.x + box.width < view.x + width && box.y + box.height < view.y + height
  if (inside) return
  view.x = box.x + box.width / 2 - width / 2
  view.y = box.y + box.height / 2 - height / 2
  draw(pane)
}

function boxOf(view, node) {
  const box = node.getBBox()
  const matrix = view.svg.getScreenCTM().inverse().multiply(node.getScreenCTM())
  const corner = new DOMPoint(box.x, box.y).matrixTransform(matrix)
  return { x: corner.x, y: corner.y, width: box.width * matrix.a, height: box.height * matrix.d }
}

function frame(pane, node, style) {
  const view = views.get(pane)
  const box = boxOf(view, node)
  const rect = document.createElementNS('http://www.w3.org/2000/svg', 'rect')
  const set = { x: box.x - 3, y: box.y - 3, width: box.width + 6, height: box.height + 6, class: `frame ${style}` }
  for (const [name, value] of Object.entries(set)) rect.setAttribute(name, value)
  view.svg.append(rect)
}

function unmark(root, style) {
  for (const rect of root.querySelectorAll(`.frame.${style}`)) rect.remove()
}

function find(panes, text) {
  const words = text.trim().toLowerCase()
  const hits = []
  for (const side of SIDES) {
    panes[side].classList.toggle('searching', Boolean(words))
    for (const [id, node] of views.get(panes[side]).picks) {
      const said = [node.textContent, ...Object.values(node.dataset)].join(' ').toLowerCase()
      const hit = Boolean(words) && said.includes(words)
      node.classList.toggle('hit', hit)
      if (hit) hits.push({ side, id, node })
    }
  }
  return hits
}

const pointIn = (pane, event) => {
  const box = pane.getBoundingClientRect()
  return { x: event.clientX - box.left, y: event.clientY - box.top }
}
const idAt = event => event.target.closest?.('.pick')?.dataset.pick
const STEP = 60
const KEYS = {
  ArrowLeft: pane => pan(pane, -STEP, 0),
  ArrowRight: pane => pan(pane, STEP, 0),
  ArrowUp: pane => pan(pane, 0, -STEP),
  ArrowDown: pane => pan(pane, 0, STEP),
  '+': pane => zoom(pane, 1.25),
  '-': pane => zoom(pane, 0.8),
  0: pane => fit(pane),
}
