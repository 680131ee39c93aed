// The panel of a chosen node and its partner: what they are, where they come from, what they hold.

const PANEL_CELL = 14 // pixels of a heat map's cell at most

function html(tag, attributes = {}, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  element.append(...children) // strings become text nodes
  return element
}

function showPanel(view) {
  const panel = view.root.querySelector('.panel')
  const { node } = view.state
  if (!node) {
    const hint = html('p', { class: 'quiet' }, say(view, 'nothing_chosen'))
    panel.replaceChildren(hint, ...divergenceList(view))
    return
  }
  const [partner] = partners(view, node.side, node.id)
  const ids = { [node.side]: node.id, [OTHER[node.side]]: partner }
  const pair = pairOf(view, ids)
  const sides = SIDES.map(side => sideOfPanel(view, side, ids[side], node, pair))
  const lines = [...pairLines(view, pair), ...whyOf(view, ids)]
  panel.replaceChildren(...lines, html('div', { class: 'cards' }, ...sides))
}

function pairOf(view, ids) {
  return (ids.left && ids.right && view.data.told[`${ids.left} ${ids.right}`]) || null
}

// What joins the two: the evidence, and by how much their values differ.
function pairLines(view, pair) {
  if (!pair) return []
  const lines = [html('p', {}, html('strong', {}, pair.evidence))]
  if (pair.difference) lines.push(html('p', { class: 'difference' }, pair.difference))
  if (pair.map) lines.push(heatMap(view, pair.map, 'difference_map'))
  return lines
}

function sideOfPanel(view, side, id, chosen, pair) {
  const name = say(view, side)
  const card = html('article', { class: 'card', 'aria-label': name, 'data-card': side })
  card.append(html('header', {}, name))
  if (id) card.append(...nodeParts(view, side, id, pair))
  else card.append(html('p', { class: 'quiet' }, view.panes[chosen.side].data.nodes[chosen.id].alone))
  return card
}

function nodeParts(view, side, id, pair) {
  const node = view.panes[side].data.nodes[id]
  const facts = [...argumentFacts(view, side, node, pair), ...node.facts]
  const parts = [html('h3', {}, node.title), factList(facts)]
  parts.push(...triedParts(view, side, id))
  if (node.forward) parts.push(forwardLink(view, side, node.forward))
  for (const place of node.source) parts.push(sourceLines(view.data.sources[place]))
  for (const output of node.outputs) parts.push(...outputParts(view, output))
  return parts
}

function factList(facts) {
  const list = html('dl', {})
  for (const [name, ...texts] of facts) list.append(html('dt', {}, name), html('dd', {}, ...texts))
  return list
}

// The arguments of the op, and the layer with its settings.
function argumentFacts(view, side, node, pair) {
  const facts = []
  if (node.arguments.length) {
    facts.push([say(view, 'arguments'), argumentList(view, node.arguments, pair?.arguments)])
  }
  const layer = layerOf(view.panes[side], node)
  if (layer) {
    const settings = argumentList(view, layer.settings, pair?.settings)
    facts.push([say(view, 'layer'), html('code', { class: 'layer' }, layer.name), settings])
  }
  return facts
}

// The layer that a node runs in, with its settings; null for a node of none.
function layerOf(pane, node) {
  return node.layer === null ? null : pane.data.layers[node.layer]
}

// Those whose value is another on the other side are marked by a sign as well.
function argumentList(view, pairs, others = []) {
  const list = html('span')
  for (const [name, value] of pairs) {
    const isOther = others.includes(name)
    const code = html('code', {}, `${isOther ? '≠\u00a0' : ''}${name}=${value}`)
    if (isOther) {
      code.className = 'other'
      code.title = say(view, 'other_value')
    }
    list.append(code)
  }
  return list
}

function forwardLink(view, side, forward) {
  const button = html('button', { type: 'button', class: 'link' })
  button.textContent = say(view, 'forward_node', { node: forward.title })
  button.onclick = () => {
    choose(view, { side, id: forward.id })
    if (view.state.node) reveal(view.panes[side], forward.id)
  }
  return html('p', {}, button)
}

// A line of source with those around it, its own marked by a sign as well.
function sourceLines({ place, lines, at }) {
  const code = html('pre', { class: 'source', tabindex: 0, 'aria-label': place })
  for (const [number, text] of lines) {
    const isOwn = number === at
    const row = html('code', { class: isOwn ? 'own' : '' })
    row.textContent = `${isOwn ? '▸' : ' '}${String(number).padStart(4)}  ${text}\n`
    code.append(row)
  }
  const figure = html('figure', { class: 'code' }, html('figcaption', {}, place))
  if (lines.length) figure.append(code)
  return figure
}

function outputParts(view, output) {
  const parts = [html('p', { class: 'shape' }, output.shape)]
  if (output.figures) parts.push(html('p', { class: 'figures' }, output.figures))
  if (output.values) parts.push(html('pre', { class: 'values', tabindex: 0 }, output.values))
  if (output.map) parts.push(heatMap(view, output.map, 'heat_map'))
  return parts
}

// Cells are bytes: 0 is a value that is not finite, 1 the least, 128 zero, 255 the greatest.
function heatMap(view, { rows, columns, cells, range }, name) {
  const size = Math.max(2, Math.min(PANEL_CELL, Math.floor(420 / columns), Math.floor(280 / rows)))
  const canvas = html('canvas', { role: 'img', width: columns * size, height: rows * size })
  const text = say(view, name, { rows, columns, range })
  canvas.setAttribute('aria-label', text)
  const context = canvas.getContext('2d')
  const bytes = Uint8Array.from(atob(cells), letter => letter.charCodeAt(0))
  bytes.forEach((cell, index) => {
    const x = (index % columns) * size
    const y = Math.floor(index / columns) * size
    context.fillStyle = cellColour(cell)
    context.fillRect(x, y, size, size)
    if (cell === 0) crossOut(context, x, y, size)
  })
  return html('figure', { class: 'map' }, canvas, html('figcaption', {}, text))
}

// From blue through white to orange, which everybody tells apart; what is not finite is crossed out.
function cellColour(cell) {
  if (cell === 0) return '#808080'
  const part = (cell - 128) / 127
  const [red, green, blue] = part < 0 ? [33, 102, 172] : [230, 97, 1]
  const mix = channel => Math.round(247 + (channel - 247) * Math.abs(part))
  return `rgb(${mix(red)} ${mix(green)} ${mix(blue)})`
}

function crossOut(context, x, y, size) {
  context.strokeStyle = '#000000'
  context.beginPath()
  context.moveTo(x, y)
  context.lineTo(x + size, y + size)
  context.moveTo(x + size, y)
  context.lineTo(x, y + size)
  context.stroke()
}
