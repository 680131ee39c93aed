// The adapter for Streamlit, which calls this whenever the data change, on the same elements.

const mounted = new WeakMap()

export default function ({ data, parentElement, setStateValue }) {
  let view = mounted.get(parentElement)
  if (!view || !view.panes.left.element.isConnected) {
    view = mount(parentElement, state => setStateValue('view', state))
    mounted.set(parentElement, view)
  }
  const { pair, sources, state } = JSON.parse(new TextDecoder().decode(data))
  view.update({ ...pair, sources, state })
  return () => view.end()
}
