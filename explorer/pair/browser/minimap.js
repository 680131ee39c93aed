// A small map of a large drawing in a corner of its pane, with the part in sight; it can be dragged.

const MAP = { width: 150, height: 150 } // pixels at most
const MAP_SHARE = 0.25 // of the pane's width at most
const LEAST_MAP = 24 // pixels of its shorter side
const NEEDED = 0.7 // below this part of width or height in sight, the map is shown

function addMinimap(pane) {
  const { x, y, width, height } = pane.size
  const room = Math.min(MAP.width, MAP_SHARE * (pane.element.clientWidth || MAP.width))
  const scale = Math.min(room / width, MAP.height / height)
  const map = svgElement('svg', {
    class: 'minimap',
    viewBox: `${x} ${y} ${width} ${height}`,
    width: Math.max(width * scale, LEAST_MAP),
    height: Math.max(height * scale, LEAST_MAP),
    preserveAspectRatio: 'none',
    'aria-hidden': 'true', // everything that it does, panning and the keys do too
  })
  for (const phase of ['forward', 'backward']) {
    map.append(svgElement('path', { class: phase, d: outlines(pane, phase) }))
  }
  pane.seen = svgElement('rect', { class: 'seen', 'vector-effect': 'non-scaling-stroke' })
  map.append(pane.seen)
  pane.map = map
  listenToMap(pane, map)
  pane.element.append(map)
}

function outlines(pane, phase) {
  let path = ''
  for (const [id, box] of pane.boxes) {
    if (pane.data.nodes[id].phase !== phase) continue
    path += `M${box.x} ${box.y}h${box.width}v${box.height}h${-box.width}z`
  }
  return path
}

function listenToMap(pane, map) {
  let isDragging = false
  const go = event => {
    const box = map.getBoundingClientRect()
    const { x, y, width, height } = pane.size
    const seen = inSight(pane)
    pane.x = x + ((event.clientX - box.left) / box.width) * width - seen.width / 2
    pane.y = y + ((event.clientY - box.top) / box.height) * height - seen.height / 2
    draw(pane)
    pane.moved()
  }
  map.onpointerdown = event => {
    event.stopPropagation()
    map.setPointerCapture(event.pointerId)
    isDragging = true
    go(event)
  }
  map.onpointermove = event => { if (isDragging) go(event) }
  map.onpointerup = map.onpointercancel = () => { isDragging = false }
}

function drawMinimap(pane) {
  const seen = inSight(pane)
  const isWhole = seen.width > NEEDED * pane.size.width && seen.height > NEEDED * pane.size.height
  pane.map.classList.toggle('hidden', isWhole)
  const attributes = { x: pane.x, y: pane.y, width: seen.width, height: seen.height }
  for (const [name, value] of Object.entries(attributes)) pane.seen.setAttribute(name, value)
}
