// The adapter for Streamlit, which calls this whenever the data change. It calls it on the same
// elements, or on new ones where it has put the component elsewhere in the page.

const mounted = new WeakMap() // the view on each element that Streamlit has called this with
let latest = null

export default function ({ data, parentElement, setStateValue }) {
  const text = new TextDecoder().decode(data)
  const lineEnd = text.indexOf('\n')
  const head = JSON.parse(text.slice(0, lineEnd))
  let view = mounted.get(parentElement)
  if (!view || !view.panes.left.element.isConnected) {
    view = mountTelling(parentElement, setStateValue)
    view.before = lastChosen()
    mounted.set(parentElement, view)
  }
  latest = view
  // What was chosen on elements that are gone may not have been told yet.
  const state = view.before?.revision === head.state.revision ? view.before : head.state
  const isNew = lineEnd + 1 < text.length && view.has !== head.key
  if (isNew) {
    const { pair, sources } = JSON.parse(text.slice(lineEnd + 1))
    view.record = { ...pair, sources }
    view.has = head.key
  }
  if (view.has === head.key) {
    const revision = view.revision
    view.update({ ...view.record, state }, isNew)
    // What the page itself has said need not be told: to tell runs the page again.
    if (view.revision !== revision && state !== head.state) view.tell()
  } else setStateValue('view', { ...state, has: '' }) // it was sent to elements that are gone
  return () => view.end()
}

// The state of the last view, or of the one before it where that has shown nothing yet.
function lastChosen() {
  return latest?.data ? toldState(latest) : latest?.before
}

// Elements that are no longer in the page tell nothing.
function mountTelling(root, setStateValue) {
  return mount(root, state => {
    if (root.isConnected) setStateValue('view', state)
  })
}
