// The adapter for Streamlit, which calls this whenever the data change. It calls it on the same
// elements, or on new ones where it has put the component elsewhere in the page.

let view = null // on the elements that are in the page

export default function ({ data, parentElement, setStateValue }) {
  const text = new TextDecoder().decode(data)
  const lineEnd = text.indexOf('\n')
  const head = JSON.parse(text.slice(0, lineEnd))
  if (view?.root !== parentElement || !view.panes.left.element.isConnected) {
    const before = lastChosen()
    view = mountTelling(parentElement, setStateValue)
    view.before = before
  }
  // What was chosen on elements that are gone may not have been told yet.
  const state = view.before?.revision === head.state.revision ? view.before : head.state
  const isNew = lineEnd + 1 < text.length && view.has !== head.key
  if (isNew) {
    const { pair, sources } = JSON.parse(text.slice(lineEnd + 1))
    view.record = { ...pair, sources }
    view.has = head.key
  }
  if (view.has === head.key) view.update({ ...view.record, state }, isNew)
  else setStateValue('view', { ...state, has: '' }) // it was sent to elements that are gone
  const current = view
  return () => current.end()
}

// The state of the last view, or of the one before it where that has shown nothing yet.
function lastChosen() {
  return view?.data ? toldState(view) : view?.before
}

// Only the view that is in the page tells what was chosen.
function mountTelling(root, setStateValue) {
  const mounted = mount(root, state => {
    if (mounted === view) setStateValue('view', state)
  })
  return mounted
}
