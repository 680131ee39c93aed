// The pointer on a pane, and the bar above: search, filters, zoom, steps.

const WHEEL_STEP = 1.15 // the factor of one notch
const DRAG_START = 4 // pixels: a hand that clicks moves a little

function pointIn(pane, event) {
  const box = pane.element.getBoundingClientRect()
  return { x: event.clientX - box.left, y: event.clientY - box.top }
}

function idAt(event) {
  return event.target.closest?.('.pick')?.dataset.pick
}

// The wheel zooms, dragging pans, a click chooses, and hovering lights.
function listenToPointer(view, side) {
  const pane = view.panes[side]
  const { element } = pane
  let drag = null
  element.onwheel = event => {
    event.preventDefault()
    const factor = event.deltaY > 0 ? 1 / WHEEL_STEP : WHEEL_STEP
    zoom(pane, factor, pointIn(pane, event))
    followPane(view, side, factor)
  }
  element.onpointerdown = event => {
    drag = { x: event.clientX, y: event.clientY, moved: false }
  }
  element.onpointermove = event => {
    if (!drag) return
    const dx = event.clientX - drag.x
    const dy = event.clientY - drag.y
    if (!drag.moved && Math.hypot(dx, dy) < DRAG_START) return
    // Captured only now: a pane that captures the pointer takes the click away from its nodes.
    if (!drag.moved) element.setPointerCapture(event.pointerId)
    drag = { x: event.clientX, y: event.clientY, moved: true }
    pan(pane, -dx, -dy)
    followPane(view, side)
  }
  element.onpointerup = event => {
    const id = idAt(event)
    if (drag && !drag.moved && id) choose(view, { side, id })
    drag = null
  }
  element.onpointercancel = () => { drag = null }
  element.onpointerover = event => {
    const id = idAt(event)
    if (id) light(view, side, id)
    else unlight(view)
  }
  element.onpointerleave = () => unlight(view)
  pane.moved = () => followPane(view, side)
}

function zoomBoth(view, side, factor) {
  if (view.state.follow) {
    zoom(view.panes[side], factor)
    followPane(view, side, factor)
  } else SIDES.forEach(each => zoom(view.panes[each], factor))
}

function listenToBar(view) {
  const find = selector => view.root.querySelector(selector)
  const field = find('input[type=search]')
  field.oninput = () => {
    view.words = field.value
    paint(view)
    const [hit] = view.hits
    if (hit) reveal(view.panes[hit.side], hit.id)
  }
  field.onkeydown = event => {
    if (event.key === 'Enter' && view.hits.length) choose(view, view.hits[0])
  }
  find('[data-only]').onchange = event => {
    view.state.only = event.target.value
    paint(view)
    view.tell()
  }
  find('[data-follow]').onchange = event => {
    view.state.follow = event.target.checked
    view.tell()
  }
  for (const button of view.root.querySelectorAll('[data-zoom]')) {
    button.onclick = () => zoomBoth(view, 'left', Number(button.dataset.zoom))
  }
  find('[data-layout]').onclick = () => {
    arrange(view, !find('.panes').classList.contains('stacked'))
  }
  find('[data-fit]').onclick = () => SIDES.forEach(side => fit(view.panes[side]))
  find('[data-divergence]').onclick = () => {
    view.divergence = null
    goToDivergence(view, 1)
  }
  find('[data-play]').onclick = () => play(view)
  find('.step').oninput = event => {
    pause(view)
    goToStep(view, Number(event.target.value))
  }
  find('[data-whole]').onclick = () => {
    pause(view)
    goToStep(view, null)
  }
}
