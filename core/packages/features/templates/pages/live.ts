import { choiceField, editorScript, fill, type Html, html } from '@dispatch/plugins/console'
import type { FastifyReply } from 'fastify'
import { previewFormats, savedFormats, shownFormats } from '../contract/templates.ts'
import type { Words } from './words.ts'
import type { Written } from './written.ts'

/** The address of the script of an editor. Without one its page works all the same. */
export async function editorOf ({ log }: FastifyReply, name: Parameters<typeof editorScript>[0]): Promise<string | undefined> {
  try {
    return (await editorScript(name)).path
  } catch (error) {
    log.error({ err: error }, 'the editor of the console cannot be built')
    return undefined
  }
}

/** Where the document is shown beside its form; without the script a button opens it in a window of its own. */
export function livePart (words: Words, { name, format }: Written, at: string): Html {
  const title = fill(words.previewOf, { name: name === '' ? words.templateNew : name })
  return html`<div class="live" data-title="${title}" data-saved="${savedFormats.join(' ')}" data-shown="${shownFormats.join(' ')}"><hr>${
    choiceField({
      name: 'format',
      label: words.previewFormat,
      value: format,
      none: words.previewUsual,
      options: previewFormats.map((value) => ({ value, label: value }))
    })
  }<div class="actions"><button class="second" formaction="${at}/preview" formtarget="_blank">${words.previewOpen}</button></div>
<p class="help" role="status" data-working="${words.liveWorking}" data-ready="${words.liveReady}" data-lost="${words.liveLost}"></p></div>`
}
