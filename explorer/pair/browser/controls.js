// The bar above the panes: search, filters, zoom, steps.

function zoomBoth(view, side, factor) {
  if (view.state.follow) {
    zoom(view.panes[side], factor)
    followPane(view, side, factor)
  } else SIDES.forEach(each => zoom(view.panes[each], factor))
}

// Where there is little room they are folded; elsewhere they are always in sight.
function showControls(view, shown) {
  view.root.querySelector('.explorer').classList.toggle('controlled', shown)
  view.root.querySelector('[data-controls]').setAttribute('aria-expanded', String(shown))
}

function listenToBar(view) {
  const find = selector => view.root.querySelector(selector)
  const field = find('input[type=search]')
  field.oninput = () => {
    view.words = field.value
    paint(view)
    const [hit] = view.hits
    if (hit) reveal(view.panes[hit.side], hit.id)
  }
  field.onkeydown = event => {
    if (event.key === 'Enter' && view.hits.length) choose(view, view.hits[0])
  }
  find('[data-only]').onchange = event => {
    view.state.only = event.target.value
    paint(view)
    view.tell()
  }
  find('[data-follow]').onchange = event => {
    view.state.follow = event.target.checked
    view.tell()
  }
  for (const button of view.root.querySelectorAll('[data-zoom]')) {
    button.onclick = () => zoomBoth(view, 'left', Number(button.dataset.zoom))
  }
  find('[data-layout]').onclick = () => {
    arrange(view, !find('.panes').classList.contains('stacked'))
  }
  find('[data-fit]').onclick = () => SIDES.forEach(side => fit(view.panes[side]))
  find('[data-divergence]').onclick = () => {
    view.divergence = null
    goToDivergence(view, 1)
  }
  find('[data-controls]').onclick = () => {
    showControls(view, !find('.explorer').classList.contains('controlled'))
  }
  find('[data-play]').onclick = () => play(view)
  find('.step').oninput = event => {
    pause(view)
    goToStep(view, Number(event.target.value))
  }
  find('[data-whole]').onclick = () => {
    pause(view)
    goToStep(view, null)
  }
}
