// The part of a drawing that a pane has in sight: fitting, panning, zooming.

const LEGIBLE = 0.6 // a graph too large to be seen whole is first shown at this scale, from its top
const SMALL_PRINT = 0.3 // from this scale on a whole graph is shown rather than a part of it
const SMALLEST = 0.02
const LARGEST = 4
const MARGIN = 8

// The scale at which a whole drawing fits into a box; never enlarged.
function wholeScale(size, width, height) {
  return Math.min(width / size.width, height / size.height, 1)
}

// The scale at which a drawing is first shown in a box.
function firstScale(size, width, height) {
  const whole = wholeScale(size, width, height)
  return whole >= SMALL_PRINT ? whole : LEGIBLE
}

// Shows the whole drawing.
function fit(pane) {
  show(pane, wholeScale)
}

// Shows the whole drawing where that can be read, else its top at a scale that can.
function fitFirst(pane) {
  show(pane, firstScale)
}

// Notes the size of a pane. To ask the browser for it makes it lay out the page, which takes long
// where a drawing is large: everything else reads what is noted here.
function measure(pane) {
  const { clientWidth, clientHeight } = pane.element
  pane.room = { width: clientWidth, height: clientHeight }
}

// What does not fit is shown from the top and the middle.
function show(pane, scaleIn) {
  measure(pane)
  const { room } = pane
  const { x, y, width, height } = pane.size
  const scale = scaleIn(pane.size, room.width - 2 * MARGIN, room.height - 2 * MARGIN)
  pane.scale = Math.max(scale, SMALLEST)
  pane.placed = room.width > 0
  pane.x = x + (width - room.width / pane.scale) / 2
  const isTooTall = height * pane.scale > room.height
  const centred = y + (height - room.height / pane.scale) / 2
  pane.y = isTooTall ? y - MARGIN / pane.scale : centred
  draw(pane)
}

function draw(pane) {
  if (!pane.room.width) return
  const { width, height } = inSight(pane)
  pane.svg.setAttribute('viewBox', `${pane.x} ${pane.y} ${width} ${height}`)
  drawMinimap(pane)
}

// The size of the part in sight, in the drawing's own units.
function inSight(pane) {
  return { width: pane.room.width / pane.scale, height: pane.room.height / pane.scale }
}

function pan(pane, dx, dy) {
  pane.x += dx / pane.scale
  pane.y += dy / pane.scale
  draw(pane)
}

function middleOf(pane) {
  return { x: pane.room.width / 2, y: pane.room.height / 2 }
}

// Zooms about a point of the pane, which stays where it is; by default its middle.
function zoom(pane, factor, at = middleOf(pane)) {
  const scale = Math.min(Math.max(pane.scale * factor, SMALLEST), LARGEST)
  pane.x += at.x / pane.scale - at.x / scale
  pane.y += at.y / pane.scale - at.y / scale
  pane.scale = scale
  draw(pane)
}

// Where the middle of a node stands in its pane, in pixels.
function placeOf(pane, id) {
  const box = pane.boxes.get(id)
  const x = (box.x + box.width / 2 - pane.x) * pane.scale
  return { x, y: (box.y + box.height / 2 - pane.y) * pane.scale }
}

// Moves the drawing so that a node's middle stands at a point of the pane.
function place(pane, id, at) {
  const now = placeOf(pane, id)
  pan(pane, now.x - at.x, now.y - at.y)
}

function isInSight(pane, id) {
  const box = pane.boxes.get(id)
  const { width, height } = inSight(pane)
  const isInWidth = box.x > pane.x && box.x + box.width < pane.x + width
  return isInWidth && box.y > pane.y && box.y + box.height < pane.y + height
}

// Moves a node into the middle of its pane unless it is in sight.
function reveal(pane, id) {
  if (!isInSight(pane, id)) place(pane, id, middleOf(pane))
}
