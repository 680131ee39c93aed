// The adapter for Streamlit, which calls this whenever the data change, on the same elements.

const mounted = new WeakMap()

export default function ({ data, parentElement, setStateValue }) {
  let view = mounted.get(parentElement)
  if (!view || !view.panes.left.element.isConnected) {
    view = mount(parentElement, state => setStateValue('view', state))
    mounted.set(parentElement, view)
  }
  const text = new TextDecoder().decode(data)
  const end = text.indexOf('\n')
  const { state, key } = JSON.parse(text.slice(0, end))
  const isNew = end + 1 < text.length && view.has !== key
  if (isNew) {
    const { pair, sources } = JSON.parse(text.slice(end + 1))
    view.record = { ...pair, sources }
    view.has = key
  }
  if (view.has === key) view.update({ ...view.record, state }, isNew)
  else setStateValue('view', { ...state, has: '' }) // it was sent to elements that are gone
  return () => view.end()
}
