import { renew } from './renew.ts'
import { showTimes } from './times.ts'

/**
 * Follows what a page tells of, while somebody looks at it: at each change the page is read again, and what differs is replaced. A reader
 * who does nothing for half an hour has left: their session must be able to end.
 */
export function followChanges (): void {
  const place = document.querySelector<HTMLElement>('[data-changes]')
  const { changes, page } = place?.dataset ?? {}
  if (place === null || changes === undefined || page === undefined) return
  const idleAfterMs = 1_800_000
  let source: EventSource | undefined
  let used = Date.now()

  const stop = (): void => {
    source?.close()
    source = undefined
    place.querySelector('span')?.toggleAttribute('hidden', true)
  }
  const begin = (): void => {
    if (source !== undefined || document.hidden || !place.isConnected || Date.now() - used > idleAfterMs) return
    source = new EventSource(changes)
    for (const kind of ['dispatch', 'dispatches']) source.addEventListener(kind, () => void refresh(page))
    source.addEventListener('open', () => place.querySelector('span')?.toggleAttribute('hidden', false))
    source.addEventListener('end', () => {
      stop()
      // Callbacks are recorded a little after the end, so the page is read once more.
      setTimeout(() => void refresh(page).then(begin), 3_000)
    })
    source.addEventListener('error', () => {
      if (source?.readyState === EventSource.CLOSED) stop()
    })
  }
  for (const kind of ['pointerdown', 'keydown', 'visibilitychange']) {
    document.addEventListener(kind, () => {
      const returns = kind === 'visibilitychange' || Date.now() - used > idleAfterMs
      used = Date.now()
      if (document.hidden) stop()
      else if (returns) begin()
    })
  }
  begin()
}

/** Reads the page again, and shows what differs. A page that cannot be read stays as it is. */
export async function refresh (address: string): Promise<void> {
  const fresh = await readPage(address)
  const [old, main] = [document.querySelector('main'), fresh?.querySelector('main')]
  if (old === null || main === null || main === undefined) return
  // What was said of the reader's last action stays: the page that is read again does not know of it.
  const said = [...old.querySelectorAll(':scope > .notice[role=status]')].map((notice) => notice.cloneNode(true))
  main.querySelector(':scope > h1')?.after(...said)
  showTimes(main)
  renew(old, main)
}

/** A page as a document, in which no script runs; a form is sent there. Undefined where another page answers, such as the sign-in. */
export function readPage (address: string, form?: URLSearchParams): Promise<Document | undefined> {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest()
    request.responseType = 'document'
    request.addEventListener('loadend', () => {
      const isIt = request.status === 200 && request.responseURL === new URL(address, location.href).href
      resolve(isIt ? request.responseXML ?? undefined : undefined)
    })
    request.open(form === undefined ? 'GET' : 'POST', address)
    request.send(form ?? null)
  })
}
