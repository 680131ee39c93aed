// One pane: its drawing, the nodes in it by their ids, frames around them, and their dimming.

const SVG = 'http://www.w3.org/2000/svg'

function svgElement(tag, attributes) {
  const element = document.createElementNS(SVG, tag)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  return element
}

// Replaces a drawing only when it is another one, so that a rerun of the page keeps place and scale.
// The SVG is the explorer's own, with every label escaped; it is the only markup in the data.
function load(pane, data) {
  const isOtherGraph = pane.data?.graph !== data.graph
  const before = pane.data ? { scale: pane.scale, x: pane.x, y: pane.y } : null
  const isSame = pane.data?.key === data.key
  pane.data = data
  if (isSame) return
  pane.element.innerHTML = data.svg
  pane.svg = pane.element.querySelector('svg')
  const box = pane.svg.viewBox.baseVal
  pane.size = { x: box.x, y: box.y, width: box.width, height: box.height }
  pane.svg.removeAttribute('width')
  pane.svg.removeAttribute('height')
  // An image has no parts; here it has some that open and fold modules.
  pane.svg.setAttribute('role', 'group')
  collectNodes(pane, data.prefix)
  pane.wires = [...pane.svg.querySelectorAll('.wire')]
  pane.frames = pane.svg.appendChild(svgElement('g', {}))
  pane.lit = []
  addMinimap(pane)
  if (isOtherGraph || !before) fitFirst(pane)
  else {
    // A module was opened or folded: the same graph stays at the scale that it had.
    Object.assign(pane, before)
    draw(pane)
  }
}

// The elements that stand for nodes, and their boxes in the drawing's own units.
function collectNodes(pane, prefix) {
  pane.picks = new Map()
  pane.boxes = new Map()
  for (const element of pane.svg.querySelectorAll('.node')) {
    const id = element.id.slice(prefix.length)
    const rect = element.querySelector('.b')
    if (!rect || !pane.data.nodes[id]) continue
    element.classList.add('pick')
    element.dataset.pick = id
    pane.picks.set(id, element)
    const numbers = ['x', 'y', 'width', 'height'].map(name => Number(rect.getAttribute(name)))
    const [x, y, width, height] = numbers
    pane.boxes.set(id, { x, y, width, height })
  }
}

function frame(pane, id, style) {
  const box = pane.boxes.get(id)
  if (!box) return
  const rect = svgElement('rect', {
    x: box.x - 3,
    y: box.y - 3,
    width: box.width + 6,
    height: box.height + 6,
    rx: 5,
    class: `frame ${style}`,
  })
  pane.frames.append(rect)
}

function unframe(pane, style) {
  for (const rect of pane.frames.querySelectorAll(`.${style}`)) rect.remove()
}

// Dims the nodes that are not `kept`, and the edges at them; null keeps all.
function dim(pane, kept) {
  for (const [id, element] of pane.picks) element.classList.toggle('off', !kept(id))
  for (const wire of pane.wires) {
    wire.classList.toggle('off', !kept(wire.dataset.from) || !kept(wire.dataset.to))
  }
}
