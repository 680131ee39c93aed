// Modules opened and folded in place: a sign on each frame and on each module that is one node.

const SIGN = 7 // the radius of a sign, in the drawing's units

function addFoldSigns(view, side) {
  const pane = view.panes[side]
  if (pane.signed === pane.data.key) return
  pane.signed = pane.data.key
  const modules = new Set(pane.data.modules)
  for (const group of pane.svg.querySelectorAll('.group')) {
    const path = group.dataset.module
    if (!modules.has(path)) continue
    const rect = group.querySelector('rect')
    const [x, y, width, height] = ['x', 'y', 'width', 'height'].map(name => +rect.getAttribute(name))
    // The border alone takes clicks: what is inside a frame belongs to the nodes.
    const edge = svgElement('rect', { class: 'edge', x, y, width, height, rx: 8 })
    edge.onclick = () => fold(view, path, false)
    group.append(edge)
    pane.svg.append(foldSign(view, path, x + width, y, false))
  }
  for (const [id, box] of pane.boxes) {
    const path = pane.data.nodes[id].module
    if (!path || !modules.has(path)) continue
    pane.svg.append(foldSign(view, path, box.x + box.width, box.y + box.height, true))
  }
}

function foldSign(view, path, x, y, opens) {
  const name = say(view, opens ? 'open' : 'fold', { module: path })
  const sign = svgElement('g', { class: 'sign', role: 'button', tabindex: 0, 'aria-label': name })
  const title = svgElement('title', {})
  title.textContent = name
  const bars = `M${x - 3.5} ${y}h7${opens ? `M${x} ${y - 3.5}v7` : ''}`
  sign.append(title, svgElement('circle', { cx: x, cy: y, r: SIGN }), svgElement('path', { d: bars }))
  sign.onclick = () => fold(view, path, opens)
  sign.onkeydown = event => {
    if (event.key !== 'Enter' && event.key !== ' ') return
    event.preventDefault()
    event.stopPropagation()
    fold(view, path, opens)
  }
  return sign
}

// The drawing is made anew elsewhere: here it is only said what is wanted.
function fold(view, path, opens) {
  const { opened, folded } = view.state
  const [into, from] = opens ? [opened, folded] : [folded, opened]
  from.delete(path)
  into.add(path)
  view.tell()
}
