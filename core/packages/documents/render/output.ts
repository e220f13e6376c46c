import { renderError } from '../model/errors.ts'
import { renderLimits } from '../model/limits.ts'

/** Joins the pieces to one text. Throws a RenderError when they exceed the limit of characters, before they fill the memory. */
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

/** Control characters that no text needs, and those that reverse text or hide its direction (Unicode 9.0, UAX #9). */
// eslint-disable-next-line no-control-regex -- The pattern searches for control characters.
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g

/** Text for a screen: line ends as `\n`, tabs as spaces, a control character as the replacement character. */
export function readable (text: string): string {
  return text.replace(/\r\n?|[\u0085\u2028\u2029]/g, '\n').replaceAll('\t', ' ').replace(controls, '\ufffd')
}
