// The adapter for a page that stands alone: its data stand in it, packed.

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), letter => letter.charCodeAt(0))
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))
  return JSON.parse(await new Response(stream).text())
}

// Drawings, nodes and layers are runs of texts that several of them share.
function unfolded(pane, texts) {
  const said = runs => runs.flatMap(([start, count]) => texts.slice(start, start + count))
  const named = runs => JSON.parse(`{${said(runs).join()}}`)
  const svg = said(pane.svg).join('\n')
  return { ...pane, svg, nodes: named(pane.nodes), layers: named(pane.layers) }
}

// Mounts on every element of this name: a notebook may show one output twice.
function mountAll(name, parts) {
  for (const host of document.querySelectorAll(`[data-panes="${name}"]`)) {
    if (!host.shadowRoot) mountPage(host, parts)
  }
}

// In a shadow, so that neither page nor component styles the other. What was in the host before, the
// still picture, is hidden by it, and shown in print.
async function mountPage(host, parts) {
  const packed = host.querySelector('[type="application/gzip"]').textContent
  const { texts, pairs, sources } = await unpacked(packed)
  const root = host.attachShadow({ mode: 'open' })
  root.innerHTML = `<style>${parts.style}</style>${parts.html}<slot></slot>`
  const view = mount(root, () => {})
  const show = revision => {
    const { pair } = pairs[revision]
    const [left, right] = [pair.left, pair.right].map(pane => unfolded(pane, texts))
    const state = { revision, node: '', step: null, only: '', follow: true, opened: [], folded: [] }
    view.update({ ...pair, left, right, sources, state, standsAlone: true })
  }
  show(0)
  if (pairs.length > 1) root.querySelector('.bar').prepend(choiceOf(view, pairs, show))
}

function choiceOf(view, pairs, show) {
  const choice = html('select', { class: 'pairs' })
  label(choice, say(view, 'engines'))
  pairs.forEach((pair, place) => choice.append(html('option', { value: place }, pair.name)))
  choice.onchange = () => show(Number(choice.value))
  return choice
}
