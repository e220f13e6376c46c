import { readPage } from '../follow.ts'
import type { Fault, Field } from './field.ts'
import { previewLive } from './preview.ts'

/**
 * What the script does where a template is written block by block: the document is shown beside its blocks, and a button changes the blocks
 * alone. Without it the page comes again as a whole.
 */
const form = document.querySelector<HTMLFormElement>('form[data-editor]')
if (form !== null) {
  const fields: Field[] = []
  const live = previewLive(form, fields)
  let target: HTMLInputElement | HTMLTextAreaElement | undefined

  const begin = (): void => {
    fields.splice(0, fields.length, ...[...form.querySelectorAll<HTMLElement>('[data-block]')].map(fieldOf))
  }
  for (const event of ['input', 'change']) {
    form.addEventListener(event, ({ target: changed }) => {
      if (!(changed instanceof Element) || changed.closest('[data-insert]') === null) live?.changed()
    })
  }
  form.addEventListener('focusin', ({ target: focused }) => {
    const isText = focused instanceof HTMLInputElement && focused.type === 'text' || focused instanceof HTMLTextAreaElement
    if (isText) target = focused
  })
  form.addEventListener('submit', (event) => {
    const { submitter } = event
    if (!(submitter instanceof HTMLButtonElement) || submitter.hasAttribute('formtarget') || submitter.hasAttribute('formaction')) return
    const [verb = ''] = submitter.value.split(':')
    if (submitter.name !== 'do' || ['save', 'check', 'text'].includes(verb)) return
    event.preventDefault()
    if (verb === 'field' && target?.isConnected === true) insert(form, target)
    else void renew(form, submitter).then(begin).then(() => live?.changed())
  })
  begin()
}

/** Puts what the form has chosen where its reader has last written. */
function insert (form: HTMLFormElement, into: HTMLInputElement | HTMLTextAreaElement): void {
  const chosen = form.querySelector<HTMLSelectElement>('[data-insert] [name=field]')?.value ?? ''
  const text = into.hasAttribute('list') ? /\{\{ ([\w.]+)/.exec(chosen)?.[1] ?? '' : chosen
  into.focus()
  if (into.hasAttribute('list')) into.select()
  into.setRangeText(text, into.selectionStart ?? into.value.length, into.selectionEnd ?? into.value.length, 'end')
  into.dispatchEvent(new Event('input', { bubbles: true }))
}

/** Sends the form, and takes what changes from the answer. Where none comes, the browser sends it as without a script. */
async function renew (form: HTMLFormElement, submitter: HTMLButtonElement): Promise<void> {
  const texts = [...new FormData(form, submitter)].flatMap(([name, value]) => typeof value === 'string' ? [[name, value]] : [])
  const page = await readPage(form.action, new URLSearchParams(texts))
  const [old, fresh] = [form.querySelector('.changing'), page?.querySelector('.changing') ?? null]
  if (old === null || fresh === null) {
    const field = document.createElement('input')
    Object.assign(field, { type: 'hidden', name: 'do', value: submitter.value })
    form.append(field)
    form.submit()
    return
  }
  old.replaceWith(document.adoptNode(fresh))
  form.querySelector<HTMLElement>('[autofocus]')?.focus()
}

/** A block as the preview knows it: its faults stand behind what it is. */
function fieldOf (block: HTMLElement): Field {
  const shown = (): Element | null => block.querySelector(':scope > .wrong')
  return {
    name: block.dataset['block'] ?? '',
    show (faults) {
      shown()?.remove()
      if (faults.length === 0) return
      const opener = block.querySelector(':scope > .opener')
      // What is above all blocks has none where there is nothing to open.
      if (opener === null) block.prepend(listOf(faults))
      else opener.after(listOf(faults))
    }
  }
}

function listOf (faults: readonly Fault[]): HTMLElement {
  const list = document.createElement('ul')
  list.className = 'wrong'
  list.append(...faults.map(({ message, place }) => {
    const item = document.createElement('li')
    item.textContent = place === '' ? message : `${place} ${message}`
    return item
  }))
  return list
}
