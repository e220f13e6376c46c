import { openField } from './field.ts'

/** What the script of the editor does: each long text of its form gets an editor of its own. */
for (const area of document.querySelectorAll<HTMLTextAreaElement>('[data-editor] textarea[data-syntax]')) openField(area)
document.getElementById('keys')?.toggleAttribute('hidden', false)
