// The pointer on a pane: the wheel and two fingers zoom, dragging pans, a click chooses, and
// hovering lights.

const WHEEL_STEP = 1.15 // the factor of one notch
const DRAG_START = 4 // pixels: a hand that clicks moves a little

function pointIn(pane, event) {
  const box = pane.element.getBoundingClientRect()
  return { x: event.clientX - box.left, y: event.clientY - box.top }
}

function idAt(event) {
  return event.target.closest?.('.pick')?.dataset.pick
}

function distance(one, other) {
  return Math.hypot(one.x - other.x, one.y - other.y)
}

function listenToPointer(view, side) {
  const pane = view.panes[side]
  const { element } = pane
  const held = new Map() // where the mouse or each finger is, by the pointer's id
  let moved = false
  element.onwheel = event => {
    event.preventDefault()
    const factor = event.deltaY > 0 ? 1 / WHEEL_STEP : WHEEL_STEP
    zoom(pane, factor, pointIn(pane, event))
    followPane(view, side, factor)
  }
  element.onpointerdown = event => {
    if (!held.size) moved = false
    held.set(event.pointerId, pointIn(pane, event))
  }
  element.onpointermove = event => {
    const before = held.get(event.pointerId)
    if (!before) return
    const now = pointIn(pane, event)
    if (!moved && held.size === 1 && distance(before, now) < DRAG_START) return
    // Captured only now: a pane that captures the pointer takes the click away from its nodes.
    if (!element.hasPointerCapture(event.pointerId)) element.setPointerCapture(event.pointerId)
    moved = true
    held.set(event.pointerId, now)
    followPane(view, side, moveWith(pane, before, now, otherThan(held, event.pointerId)))
  }
  element.onpointerup = event => {
    const id = idAt(event)
    if (held.has(event.pointerId) && !moved && id) choose(view, { side, id })
    held.delete(event.pointerId)
  }
  element.onpointercancel = event => held.delete(event.pointerId)
  element.onpointerover = event => {
    const id = idAt(event)
    if (id) light(view, side, id)
    else unlight(view)
  }
  element.onpointerleave = () => unlight(view)
  pane.moved = () => followPane(view, side)
}

function otherThan(held, pointer) {
  return [...held].find(([id]) => id !== pointer)?.[1]
}

// Moves the drawing with a pointer; with another one held, what lies between the two stays between
// them. Gives the factor of the zoom.
function moveWith(pane, before, now, other) {
  if (!other) {
    pan(pane, before.x - now.x, before.y - now.y)
    return 1
  }
  const factor = distance(now, other) / Math.max(distance(before, other), 1)
  pan(pane, (before.x - now.x) / 2, (before.y - now.y) / 2)
  zoom(pane, factor, { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 })
  return factor
}
