// Cards that are links to a page. Everything from Python is set as text.

const element = (name, classes, text) => {
  const made = document.createElement(name)
  made.className = classes
  if (text !== undefined) made.textContent = text
  return made
}

const linkOf = (card, open) => {
  const link = element('a', 'name', card.heading)
  link.href = card.href
  link.addEventListener('click', event => {
    // With a modifier, the browser opens the link itself: in a new tab, for example.
    if (event.metaKey || event.ctrlKey || event.shiftKey) return
    event.preventDefault()
    open(card.name)
  })
  return link
}

const pictureOf = card => {
  const picture = element('div', 'picture')
  const image = element('img', '')
  image.alt = card.label
  image.loading = 'lazy' // dozens are below what is seen first
  image.decoding = 'async'
  image.src = card.picture
  picture.append(image)
  return picture
}

const badgeOf = badge => {
  const made = element('span', 'badge', `${badge.mark} ${badge.text}`)
  made.style.background = badge.colour
  return made
}

const cardElement = (card, open) => {
  const made = element('article', 'card')
  made.append(linkOf(card, open))
  if (card.picture) made.append(pictureOf(card))
  made.append(element('p', 'title', card.title))
  if (card.point) made.append(element('p', 'point', card.point))
  if (card.badge) made.append(badgeOf(card.badge))
  if (card.note) made.append(element('p', 'note', card.note))
  return made
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component
  const open = name => setTriggerValue('opened', name)
  const cards = data.cards.map(card => cardElement(card, open))
  parentElement.querySelector('.cards').replaceChildren(...cards)
}
