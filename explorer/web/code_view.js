// Two nets side by side: a line lights the other net's lines that hold the same quantities, and its
// nodes are links to the page of graphs. Everything from Python is set as text.

const CHIPS = 8

const element = (name, classes, text) => {
  const made = document.createElement(name)
  made.className = classes
  if (text !== undefined) made.textContent = text
  return made
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component
  const nets = parentElement.querySelector('.nets')
  nets.replaceChildren()
  const byPlace = { left: new Map(), right: new Map() }
  const other = { left: 'right', right: 'left' }

  const light = (side, line, isOn) => {
    byPlace[side].get(line.place)?.classList.toggle('lit', isOn)
    for (const place of line.partners) byPlace[other[side]].get(place)?.classList.toggle('lit', isOn)
  }

  const open = (event, side, node) => {
    // With a modifier, the browser opens the link itself: in a new tab, for example.
    if (event.metaKey || event.ctrlKey || event.shiftKey) return
    event.preventDefault()
    event.stopPropagation()
    setTriggerValue('opened', `${side}:${node.id}`)
  }

  const chip = (side, node) => {
    const classes = `chip ${node.phase}${node.differs ? ' differs' : ''}`
    const link = element('a', classes, `${node.differs ? '≠ ' : ''}${node.op}`)
    link.href = node.href
    link.dataset.node = `${side}:${node.id}`
    link.addEventListener('click', event => open(event, side, node))
    return link
  }

  // What to write in this net, with a button that copies it.
  const mend = code => {
    const made = element('span', 'mend')
    const button = element('button', 'copy', data.words.copy)
    button.type = 'button'
    button.setAttribute('aria-label', `${data.words.copy}: ${code}`)
    const text = element('code', '', code)
    button.addEventListener('click', async event => {
      event.stopPropagation()
      try {
        await navigator.clipboard.writeText(code)
        button.textContent = data.words.copied
      } catch {
        window.getSelection()?.selectAllChildren(text) // without a clipboard
      }
    })
    made.append(element('span', '', `${data.words.write} `), text, button)
    return made
  }

  const causeElement = cause => {
    const made = element('div', 'cause')
    made.append(element('span', 'why', cause.why))
    if (cause.code) made.append(mend(cause.code))
    return made
  }

  const lineElement = (side, line) => {
    const differs = line.nodes.some(node => node.differs)
    const made = element('div', `line${line.nodes.length ? ' linked' : ''}${differs ? ' differs' : ''}`)
    made.dataset.place = line.place
    made.append(element('span', 'number', String(line.number)))
    const sign = element('span', 'sign', differs ? '≠' : '')
    if (differs) sign.setAttribute('aria-label', data.words.differs)
    made.append(sign, element('span', 'text', line.text || ' '))
    byPlace[side].set(line.place, made)
    if (!line.nodes.length) return made

    const chips = element('div', 'chips')
    chips.append(...line.nodes.slice(0, CHIPS).map(node => chip(side, node)))
    if (line.nodes.length > CHIPS) chips.append(element('span', 'more', `+${line.nodes.length - CHIPS}`))
    const numbers = line.partners.map(place => place.slice(place.lastIndexOf(':') + 1))
    if (numbers.length) chips.append(element('span', 'partner', `↔ ${numbers.join(', ')}`))
    made.append(...line.causes.map(causeElement), chips)
    for (const [on, off] of [['mouseenter', 'mouseleave'], ['focusin', 'focusout']]) {
      made.addEventListener(on, () => light(side, line, true))
      made.addEventListener(off, () => light(side, line, false))
    }
    made.addEventListener('click', event => {
      // Whoever marks text to copy it means no click.
      if (!window.getSelection()?.toString()) open(event, side, line.nodes[0])
    })
    return made
  }

  for (const side of ['left', 'right']) {
    const net = element('section', 'net')
    net.dataset.side = side
    net.setAttribute('aria-label', data[side].title)
    net.append(element('h3', '', data[side].title))
    for (const block of data[side].blocks) {
      net.append(element('h4', '', block.file))
      net.append(...block.lines.map(line => lineElement(side, line)))
    }
    nets.append(net)
  }
}
