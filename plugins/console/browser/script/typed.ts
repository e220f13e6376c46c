import { readPage } from './follow.ts'

/**
 * What a form had when it was left, and when that was, in milliseconds. `waits`: the way to its page leads through the sign-in, and is not
 * over yet. `address`: where it is sent by the next page, because the page that was left could not.
 */
type Typed = { page: string, reader: string, fields: string, sent: boolean, waits: boolean, at: number, address?: string }

/** The page that shows a form again, and whose it is. */
export function ownerOf (form: HTMLFormElement): Pick<Typed, 'page' | 'reader'> {
  return { page: form.querySelector<HTMLInputElement>('input[name=":back"]')?.value ?? '', reader: form.dataset['reader'] ?? '' }
}

/**
 * Keeps in this tab what is typed in a form that is sent or left: who was signed out meanwhile finds it again after the sign-in, and who
 * has left it before the service had it, on the next page.
 */
export function keepTyped (form: HTMLFormElement, fields: URLSearchParams, more: Pick<Typed, 'sent' | 'address'>): void {
  writeTyped({ ...ownerOf(form), fields: fields.toString(), ...more, waits: false, at: Date.now() })
}

export function writeTyped (typed: Typed): void {
  try {
    sessionStorage.setItem('typed', JSON.stringify(typed))
  } catch {
    // A browser that has no place for it sends the form all the same.
  }
}

/** What was kept. After 30 minutes it is dropped: somebody else may have written more in the same draft since. */
export function readTyped (): Typed | undefined {
  const longestKept = 30 * 60_000
  try {
    const typed = JSON.parse(sessionStorage.getItem('typed') ?? 'null') as Typed | null
    if (typed !== null && Date.now() - typed.at <= longestKept) return typed
    sessionStorage.removeItem('typed')
  } catch {
    // A browser that has no place for it has kept nothing.
  }
  return undefined
}

/** The service has what is typed in a form: nothing of it needs to be kept. */
export function forgetTyped (form: HTMLFormElement): void {
  const [typed, { page, reader }] = [readTyped(), ownerOf(form)]
  if (typed?.page === page && typed.reader === reader) sessionStorage.removeItem('typed')
}

/**
 * What was typed, as far as this page is the one to have it again: after a sign-in, or where the service may not have it. What a page could
 * not send is sent by the next one within a minute: later its draft may be newer.
 */
export function takeTyped (form: HTMLFormElement | null): URLSearchParams | undefined {
  const [typed, longestUnsent] = [readTyped(), 60_000]
  if (typed === undefined) return undefined
  if (/^\/console\/(?:test\/)?sign-/.test(location.pathname)) {
    writeTyped({ ...typed, waits: true })
    return undefined
  }
  const owner = form === null ? undefined : ownerOf(form)
  const isIts = owner?.page === typed.page && owner.reader === typed.reader
  if (!isIts && typed.waits) return undefined
  sessionStorage.removeItem('typed')
  if (!isIts && typed.address !== undefined && Date.now() - typed.at < longestUnsent) {
    void readPage(typed.address, new URLSearchParams(typed.fields))
  }
  return isIts && (typed.waits || !typed.sent) ? new URLSearchParams(typed.fields) : undefined
}

/** Writes into a form what was typed there; answers whether anything is different now. */
export function fillIn (form: HTMLFormElement, typed: URLSearchParams): boolean {
  const [before, seen] = [valuesOf(form), new Map<string, number>()]
  for (const field of form.elements) {
    if (!(field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement || field instanceof HTMLSelectElement)) continue
    const { name, type } = field
    const all = typed.getAll(name)
    if (type === 'hidden' || name === '') continue
    if (field instanceof HTMLInputElement && (type === 'checkbox' || type === 'radio')) {
      field.checked = all.includes(field.value)
      continue
    }
    const nth = seen.get(name) ?? 0
    seen.set(name, nth + 1)
    field.value = all[nth] ?? field.value
  }
  return valuesOf(form) !== before
}

export function valuesOf (form: HTMLFormElement): string {
  return JSON.stringify([...new FormData(form)])
}
