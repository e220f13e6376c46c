import { renderError } from '../model/errors.ts'
import { renderLimits } from '../model/limits.ts'

/** The pieces as one text. A RenderError once they have more characters than they may, before they fill the memory. */
export function joinBounded (pieces: Iterable<string>, most: number = renderLimits.output): string {
  const all: string[] = []
  let size = 0
  for (const piece of pieces) {
    size += piece.length
    if (size > most) throw renderError('', 'too_large', `The text of the document, with its layout, has more than ${most} characters.`)
    all.push(piece)
  }
  return all.join('')
}

/** Controls that no text has, and those that turn text around or hide how it runs (Unicode 9.0, UAX #9). */
// eslint-disable-next-line no-control-regex -- Control characters are what is looked for.
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g

/** Text for a reader's screen: line ends as `\n`, tabs as spaces, a control character as the sign for what cannot be shown. */
export function readable (text: string): string {
  return text.replace(/\r\n?|[\u0085\u2028\u2029]/g, '\n').replaceAll('\t', ' ').replace(controls, '\ufffd')
}
