// What is dimmed: what a search does not find, what a filter leaves out, what has not run yet.

function paint(view) {
  const hits = []
  for (const side of SIDES) {
    const pane = view.panes[side]
    const words = view.words.trim()
    const matches = found(pane, words)
    const position = positionOf(view, side)
    const { only } = view.state
    dim(pane, id => {
      const node = pane.data.nodes[id]
      if (!node) return true
      return (!words || matches.has(id)) && (!only || node.marks.includes(only)) && node.at < position
    })
    pane.element.classList.toggle('searching', Boolean(words))
    for (const [id, element] of pane.picks) element.classList.toggle('hit', matches.has(id))
    for (const id of matches) hits.push({ side, id })
  }
  view.hits = hits
  showCounts(view)
}

// The nodes whose texts hold what is searched for.
function found(pane, words) {
  const matches = new Set()
  if (!words) return matches
  for (const [id, element] of pane.picks) {
    const texts = [element.textContent, ...Object.values(element.dataset), ...argumentTexts(pane, id)]
    if (compact(texts.join(' ')).includes(compact(words))) matches.add(id)
  }
  return matches
}

// The arguments of a node and of those that it shows, and its layer.
function argumentTexts(pane, id) {
  const node = pane.data.nodes[id]
  if (!node) return []
  const layer = layerOf(pane, node)
  const settings = layer ? [layer.name, ...layer.settings.map(pair => pair.join('='))] : []
  return [...node.arguments.map(pair => pair.join('=')), ...settings, node.inside]
}

// In lower case, without blanks around what joins arguments: "stride=(2,2)" finds "stride=(2, 2)".
function compact(text) {
  return text.toLowerCase().replace(/\s*([=,])\s*/g, '$1')
}

function showCounts(view) {
  const status = view.root.querySelector('.found')
  const { only } = view.state
  const texts = []
  if (view.words.trim()) texts.push(say(view, 'found', { n: view.hits.length }))
  if (only) texts.push(say(view, only, { n: counted(view, only) }))
  status.textContent = texts.join(' · ')
}

function counted(view, only) {
  let count = 0
  for (const side of SIDES) {
    const { nodes } = view.panes[side].data
    for (const id of view.panes[side].picks.keys()) count += nodes[id].marks.includes(only)
  }
  return count
}
