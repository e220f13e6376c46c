/** Puts a button that copies beside each text that is to be pasted elsewhere, such as a key. Without script it is selected by hand. */
export function offerCopies (): void {
  for (const place of document.querySelectorAll<HTMLElement>('[data-copy]')) {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'second copy'
    const name = place.dataset['copy'] ?? ''
    button.textContent = name
    // What was done is told to who cannot see it, too.
    button.setAttribute('aria-live', 'polite')
    button.addEventListener('click', () => {
      const text = place instanceof HTMLInputElement ? place.value : place.textContent
      void navigator.clipboard.writeText(text).then(() => {
        button.textContent = place.dataset['copied'] ?? name
        setTimeout(() => {
          button.textContent = name
        }, 3_000)
      })
    })
    place.after(button)
  }
}
