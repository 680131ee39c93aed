// Execution step by step: the tape is written and unwound, a graph runs; both panes go along.

const LONGEST_PLAY = 30000 // milliseconds that a whole run takes at most
const PAUSE = 450 // milliseconds between two steps

function lastStep(view) {
  return Math.max(...SIDES.map(side => view.panes[side].data.course.length))
}

// How many nodes of a side have run; all of them where no step is chosen.
function positionOf(view, side) {
  const { course } = view.panes[side].data
  if (view.state.step === null) return Infinity
  return Math.round((view.state.step / lastStep(view)) * course.length)
}

function goToStep(view, step) {
  view.state.step = step === null ? null : Math.min(Math.max(step, 0), lastStep(view))
  showStep(view)
  paint(view)
  if (!view.timer) view.tell() // while it plays nobody needs to know
}

function showStep(view) {
  const slider = view.root.querySelector('.step')
  const last = lastStep(view)
  slider.max = last
  slider.value = view.state.step ?? last
  unmark(view, 'now')
  const texts = []
  for (const side of SIDES) {
    if (view.state.step === null) continue
    const { course, nodes } = view.panes[side].data
    const position = positionOf(view, side)
    const id = course[position - 1]
    frame(view.panes[side], id, 'now')
    texts.push(stepText(view, side, position, nodes[id]))
  }
  const text = texts.length ? texts.join('   |   ') : say(view, 'all_run')
  view.root.querySelector('.now-text').textContent = text
  slider.setAttribute('aria-valuetext', text)
}

function stepText(view, side, position, node) {
  const { course, does } = view.panes[side].data
  const what = node ? `${node.op} (${does[node.phase]})` : '–'
  return `${position}/${course.length} ${what}`
}

function play(view) {
  if (view.timer) return pause(view)
  if (view.state.step === null || view.state.step >= lastStep(view)) view.state.step = 0
  const wait = Math.min(PAUSE, LONGEST_PLAY / lastStep(view))
  view.timer = setInterval(() => {
    if (!view.root.isConnected && !view.root.host?.isConnected) return pause(view)
    goToStep(view, view.state.step + 1)
    if (view.state.step >= lastStep(view)) pause(view)
  }, wait)
  showPlaying(view)
}

function pause(view) {
  clearInterval(view.timer)
  if (view.timer) view.tell()
  view.timer = null
  showPlaying(view)
}

function showPlaying(view) {
  const button = view.root.querySelector('[data-play]')
  button.textContent = view.timer ? '⏸' : '▶'
  label(button, say(view, view.timer ? 'pause' : 'play'))
}
