import { readPage } from './follow.ts'
import { renew } from './renew.ts'
import { showTimes } from './times.ts'
import { fillIn, forgetTyped, keepTyped, takeTyped } from './typed.ts'

/**
 * Keeps a page up to date with a form that is being filled in. After a pause in typing, the address in `data-asks` is sent the form and
 * answers with the page again; what differs is shown, and nothing that was typed is touched. The last answer counts. A frame with
 * `data-shows` has the document of the form: where the name of what it shows is another one, the button for that frame is pressed. A
 * browser that shows no PDF would save one each time, and does so only when a person presses the button.
 */
export function askWhileTyping (): void {
  const [pause, longestBeacon] = [700, 64 * 1024]
  const typedBefore = takeTyped(document.querySelector<HTMLFormElement>('form[data-asks]'))
  for (const form of document.querySelectorAll<HTMLFormElement>('form[data-asks]')) {
    let [requested, kept, frames, shown, timer, unsaved] = [0, 0, 0, '', 0, false]

    const showDocument = (): void => {
      const frame = form.querySelector<HTMLIFrameElement>('iframe[data-shows]')
      const button = form.querySelector<HTMLButtonElement>('button[formtarget]')
      const name = frame?.dataset['shows'] ?? shown
      if (frame === null || button === null || name === shown) return
      if (frame.hasAttribute('data-pdf') && !navigator.pdfViewerEnabled) return
      shown = name
      // A frame of its own leaves no entry in the history, and the old document stays until the new one is there.
      const next = frame.cloneNode() as HTMLIFrameElement
      next.name = button.formTarget = `document-${String(++frames)}`
      next.hidden = true
      next.removeAttribute('src')
      frame.before(next)
      next.addEventListener('load', () => {
        next.hidden = false
        frame.remove()
      })
      form.requestSubmit(button)
    }
    const address = form.dataset['asks'] ?? ''
    const typed = (): URLSearchParams =>
      new URLSearchParams([...new FormData(form)].map(([name, value]) => [name, typeof value === 'string' ? value : '']))
    const ask = async (mine: number): Promise<void> => {
      const fresh = await readPage(address, typed())
      const [old, main] = [document.querySelector('main'), fresh?.querySelector('main')]
      if (mine !== requested || old === null || main === null || main === undefined) return
      unsaved = false
      forgetTyped(form)
      showTimes(main)
      renew(old, main)
      showDocument()
    }
    form.addEventListener('input', () => {
      clearTimeout(timer)
      unsaved = true
      const mine = ++requested
      timer = setTimeout(() => void ask(mine), pause)
    })
    // Another form of the page may remove what this one would write again.
    document.addEventListener('submit', ({ submitter, target }) => {
      if (submitter?.hasAttribute('formtarget') === true) return
      if (target === form) keepTyped(form, typed(), { sent: true })
      clearTimeout(timer)
      requested++
      unsaved = false
    })
    // Who goes before the service has it: the form is sent on leaving, and kept for who comes back with the next page. A browser refuses to
    // send more than 64 KiB then: the next page of the console sends a larger form, which is also sent when one of its fields is left.
    // Phones leave pages without `beforeunload`.
    const keep = (): void => {
      if (!unsaved || kept === requested) return
      kept = requested
      const isSent = navigator.sendBeacon(address, typed())
      keepTyped(form, typed(), { sent: false, ...isSent ? {} : { address } })
    }
    form.addEventListener('change', () => {
      if (!unsaved || typed().toString().length <= longestBeacon) return
      clearTimeout(timer)
      void ask(++requested)
    })
    addEventListener('beforeunload', keep)
    addEventListener('pagehide', keep)
    showDocument()
    if (typedBefore !== undefined && fillIn(form, typedBefore)) form.dispatchEvent(new Event('input', { bubbles: true }))
  }
}
