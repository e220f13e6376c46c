import { readPage } from './follow.ts'

/**
 * Opens the search over a page: by its link, by `/` where nobody types, and by Ctrl-K. What is found comes from the page of the search, as
 * links, through which the arrows lead; Enter in the field opens the first one. Without script the link leads to that page.
 */
export function offerPalette (): void {
  const [dialog, link] = [document.querySelector<HTMLDialogElement>('dialog.palette'), document.querySelector<HTMLAnchorElement>('a.find')]
  const [field, found, count] = [dialog?.querySelector('input'), dialog?.querySelector('.found'), dialog?.querySelector('[role=status]')]
  if (!dialog || !link || !field || !found || !count) return
  let [requested, shown, timer] = [0, '', 0]

  const ask = async (): Promise<void> => {
    const mine = ++requested
    const text = field.value
    const fresh = await readPage(`${link.href}?q=${encodeURIComponent(text)}`)
    if (mine !== requested || fresh === undefined) return
    found.replaceChildren(...fresh.querySelectorAll('main > section'))
    count.textContent = fresh.querySelector('[data-count]')?.textContent ?? ''
    shown = text
  }
  const open = (event: Event): void => {
    event.preventDefault()
    if (!dialog.open) dialog.showModal()
    field.select()
    void ask()
  }
  link.addEventListener('click', open)
  document.addEventListener('keydown', (event) => {
    const { key, target, ctrlKey, metaKey, altKey } = event
    const typing = target instanceof HTMLElement && target.matches('input, select, textarea, .code, [contenteditable]')
    if (key.toLowerCase() === 'k' && (ctrlKey || metaKey) || key === '/' && !typing && !ctrlKey && !metaKey && !altKey) open(event)
  })
  field.addEventListener('input', () => {
    clearTimeout(timer)
    timer = setTimeout(() => void ask(), 150)
  })
  dialog.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    const stops = [field, ...found.querySelectorAll('a')]
    const at = stops.findIndex((place) => place === document.activeElement)
    stops[(at + step + stops.length) % stops.length]?.focus()
  })
  dialog.querySelector('form')?.addEventListener('submit', (event) => {
    const first = found.querySelector('a')
    if (first === null || shown !== field.value) return
    event.preventDefault()
    first.click()
  })
}
