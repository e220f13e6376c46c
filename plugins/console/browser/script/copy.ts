/**
 * Puts a button that copies beside each text that is to be pasted elsewhere, such as a key. Without script it is selected by hand, and
 * so it is where the page did not come by HTTPS: browsers then have no clipboard.
 */
export function offerCopies (): void {
  if (!('clipboard' in navigator)) return
  for (const place of document.querySelectorAll<HTMLElement>('[data-copy]')) {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'second copy'
    const { copy = '', copied = copy, what } = place.dataset
    const say = (said: string): void => {
      button.textContent = said
      if (what !== undefined) button.setAttribute('aria-label', `${said}: ${what}`)
    }
    say(copy)
    // What was done is told to who cannot see it, too.
    button.setAttribute('aria-live', 'polite')
    button.addEventListener('click', () => {
      navigator.clipboard.writeText(place instanceof HTMLInputElement ? place.value : place.textContent).then(() => {
        say(copied)
        setTimeout(() => {
          say(copy)
        }, 3_000)
      }, () => {
        selectText(place)
      })
    })
    place.after(button)
  }
}

/** For the keys that copy, where the browser does not let a script do so. */
export function selectText (place: HTMLElement): void {
  if (!(place instanceof HTMLInputElement)) return getSelection()?.selectAllChildren(place)
  place.focus()
  place.select()
}
