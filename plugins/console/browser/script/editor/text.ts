import { openField } from './field.ts'
import { previewLive } from './preview.ts'

/** What the script of the editor does: each long text of its form gets an editor of its own, beside which the document is shown. */
const form = document.querySelector<HTMLFormElement>('form[data-editor]')
if (form !== null) {
  const changed = (): void => live?.changed()
  const fields = [...form.querySelectorAll<HTMLTextAreaElement>('textarea[data-syntax]')].map((area) => openField(area, changed))
  document.getElementById('keys')?.toggleAttribute('hidden', false)
  const live = previewLive(form, fields)
  for (const event of ['input', 'change']) form.addEventListener(event, changed)
}
