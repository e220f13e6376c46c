import type { Fault, Field } from './field.ts'

/** What the service says of texts that it cannot make a document of. `again`: it had too much to do. */
type Refused = { said: string, again: boolean, faults: Readonly<Record<string, readonly Fault[]>> }

type SavedFile = { file: Blob, name: string }
type Made = { frame: HTMLIFrameElement } | SavedFile

/** How long the reader pauses before a preview is made, and how long the service is left alone when it has too much to do, in ms. */
const [pause, rest] = [600, 3_000]

/**
 * Shows the document beside its texts while they are written: one preview is made at a time, and one whose texts have changed meanwhile is
 * not shown. What is wrong is shown at its place, and the last document that could be made stays.
 */
export function previewLive (form: HTMLFormElement, fields: readonly Field[]): { changed: () => void } | undefined {
  const place = form.querySelector<HTMLElement>('.live')
  const [state, format] = [place?.querySelector<HTMLElement>('[role=status]'), place?.querySelector('select')]
  return place == null || state == null || format == null ? undefined : follow({ form, place, state, format }, fields)
}

type Parts = { form: HTMLFormElement, place: HTMLElement, state: HTMLElement, format: HTMLSelectElement }

function follow ({ form, place, state, format }: Parts, fields: readonly Field[]): { changed: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined
  let writings = 0
  let busy = false

  const later = (delay: number): void => {
    clearTimeout(timer)
    timer = setTimeout(() => void make(), delay)
  }
  async function make (): Promise<void> {
    if (busy) return
    const writing = writings
    busy = true
    say('working')
    const answer = await ask(form, place, format.value).finally(() => {
      busy = false
    })
    if (writing === writings) show(answer)
    else {
      if (answer !== undefined && 'frame' in answer) answer.frame.remove()
      later(pause)
    }
  }
  function show (answer: Made | Refused | undefined): void {
    if (answer === undefined) {
      say('lost')
      return
    }
    if ('said' in answer) {
      if (answer.again) later(rest)
      else for (const { name, show } of fields) show(answer.faults[name] ?? [])
      say('refused', answer.said)
      return
    }
    // The first message of the page stays until the texts change.
    for (const { show } of writings === 0 ? [] : fields) show([])
    replace(answer)
    say('ready')
  }
  function replace (made: Made): void {
    for (const old of place.querySelectorAll('iframe, [download]')) if (!('frame' in made) || old !== made.frame) old.remove()
    if ('frame' in made) made.frame.className = ''
    else place.append(linkTo(made))
  }
  function say (what: 'working' | 'ready' | 'lost' | 'refused', said?: string): void {
    state.dataset['state'] = what
    state.textContent = said ?? state.dataset[what] ?? ''
  }

  place.classList.add('open')
  format.addEventListener('change', () => {
    writings++
    later(0)
  })
  later(0)
  return {
    changed () {
      writings++
      if (!busy) later(pause)
    }
  }
}

/**
 * What becomes of the texts: a document, or what is wrong in them. Undefined: no answer came. The page names the formats that every browser
 * shows, and those that none shows but saves; in a format that is not named it may be a PDF. Where PDF files are not shown, a frame would
 * never be told that its PDF is there.
 */
async function ask (form: HTMLFormElement, place: HTMLElement, format: string): Promise<Made | Refused | undefined> {
  const isOf = (list: 'shown' | 'saved'): boolean => place.dataset[list]?.split(' ').includes(format) === true
  if (isOf('shown') || navigator.pdfViewerEnabled && !isOf('saved')) return await openFrame(form, place)
  const made = await fetchFile(form)
  return made !== undefined && 'file' in made && made.file.type.startsWith('text/') ? await openFrame(form, place) : made
}

async function fetchFile (form: HTMLFormElement): Promise<Made | Refused | undefined> {
  try {
    const texts = [...new FormData(form)].flatMap(([name, value]) => typeof value === 'string' ? [[name, value]] : [])
    const answer = await fetch(addressOf(form), { method: 'POST', body: new URLSearchParams(texts), redirect: 'error' })
    if (!answer.ok) return refusedIn(await answer.text())
    const name = /filename="([^"]+)"/.exec(answer.headers.get('content-disposition') ?? '')?.[1] ?? 'preview'
    return { file: await answer.blob(), name }
  } catch {
    // No connection or no session.
    return undefined
  }
}

/** Undefined: the answer is not the service's. */
function refusedIn (text: string): Refused | undefined {
  try {
    return JSON.parse(text) as Refused
  } catch {
    return undefined
  }
}

/** The address for previews. */
function addressOf (form: HTMLFormElement): string {
  return form.dataset['live'] ?? ''
}

/**
 * Sends the form to a new frame, which stands unseen behind the one before until its document is there: the first address of a frame makes
 * no entry in the browser's history. Documents are shown by addresses of the service: the policy of the page permits no others.
 */
function openFrame (form: HTMLFormElement, place: HTMLElement): Promise<Made | Refused | undefined> {
  const [frame, button] = [document.createElement('iframe'), document.createElement('button')]
  frame.name = `preview-${crypto.randomUUID()}`
  frame.title = place.dataset['title'] ?? ''
  frame.className = 'waiting'
  place.append(frame)
  // For viewers of PDF files: the page as wide as the frame, and nothing beside it.
  button.formAction = `${addressOf(form)}#navpanes=0&view=FitH`
  button.formTarget = frame.name
  button.hidden = true
  form.append(button)
  return new Promise((resolve) => {
    frame.addEventListener('load', () => {
      // A document has an origin of its own, which this page may not look into: what it may is what is wrong.
      const { contentType, body, URL: address } = frame.contentDocument ?? {}
      if (address === 'about:blank') return
      if (contentType !== 'text/plain' || body === undefined) resolve({ frame })
      else {
        frame.remove()
        resolve(refusedIn(body.textContent))
      }
    })
    form.requestSubmit(button)
    button.remove()
  })
}

function linkTo ({ file, name }: SavedFile): HTMLElement {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = name
  const size = new Intl.NumberFormat(document.documentElement.lang, { style: 'unit', unit: 'kilobyte', maximumFractionDigits: 1 })
  link.textContent = `${name} (${size.format(file.size / 1000)})`
  return link
}
