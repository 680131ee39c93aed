// Where the graphs differ, and why: the list of all places, and what is known of the chosen one.

function divergenceList(view) {
  const places = view.data.divergences
  if (!places.length) return []
  const list = html('ol', { class: 'divergences' })
  places.forEach((place, index) => list.append(divergenceItem(view, place, index)))
  const title = html('summary', {}, say(view, 'divergences', { n: places.length }))
  const part = html('details', {}, title, list)
  if (view.data.mended) part.append(html('p', { class: 'quiet' }, view.data.mended))
  part.open = view.data.standsAlone === true // elsewhere a page around says the same
  return [part]
}

function divergenceItem(view, place, index) {
  const item = html('li')
  for (const said of place.said) {
    const link = html('button', { type: 'button', class: 'link' }, said.what)
    link.onclick = () => showDivergence(view, index)
    item.append(html('p', {}, link), ...whyParts(view, said))
    if (!said.why && said.tried) item.append(html('p', { class: 'quiet' }, said.tried))
  }
  return item
}

// The cause, and what to write in either net.
function whyParts(view, said) {
  const parts = said.why ? [html('p', { class: 'why' }, said.why)] : []
  const known = said.known ? [html('p', { class: 'known' }, said.known)] : []
  return [...parts, ...said.mends.map(mend => mendPart(view, mend)), ...known]
}

function mendPart(view, { where, code }) {
  const button = html('button', { type: 'button', class: 'copy' }, say(view, 'copy'))
  button.setAttribute('aria-label', `${say(view, 'copy')}: ${code}`)
  button.onclick = async () => {
    const isCopied = await copied(code, button)
    if (isCopied) button.textContent = say(view, 'copied')
  }
  const line = html('div', { class: 'mend' }, html('code', {}, code), button)
  return html('figure', { class: 'code' }, html('figcaption', {}, where), line)
}

// A page from a file, or one without a certificate, may have no clipboard: the text is marked then.
async function copied(text, button) {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    window.getSelection()?.selectAllChildren(button.previousElementSibling)
    return false
  }
}

// What is known of a chosen node: why the graphs differ at it.
function whyOf(view, ids) {
  const places = view.data.divergences.filter(place => isAt(place, ids))
  return places.flatMap(place => place.said).flatMap(said => whyParts(view, said))
}

function isAt(place, ids) {
  return SIDES.some(side => place[side] !== null && place[side] === ids[side])
}

// What was tried at a node, and how near each change came.
function triedParts(view, side, id) {
  const all = view.data.divergences.flatMap(place => place.said)
  return all.filter(said => said.at === id && said.side === side).map(said => {
    const list = html('ul', {}, ...said.nearest.map(text => html('li', {}, text)))
    const title = html('summary', {}, say(view, 'tried'))
    return html('details', { class: 'tried', open: '' }, title, html('p', {}, said.tried), list)
  })
}
