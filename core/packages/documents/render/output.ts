import { renderError } from '../model/errors.ts'
import { renderLimits } from '../model/limits.ts'

/** A text that grows by pieces. `add` throws a RenderError when it exceeds its limit of characters, before it fills the memory. */
export type BoundedText = { add: (piece: string) => void, whole: () => string }

/** An empty text that may have at most so many characters. */
export function boundedText (most: number = renderLimits.output): BoundedText {
  let text = ''
  return {
    add (piece) {
      text += piece
      if (text.length > most) {
        throw renderError('', 'too_large', `The text of the document, with its layout, has more than ${most} characters.`)
      }
    },
    whole: () => text
  }
}

/** Joins the pieces to one text. Throws a RenderError when they exceed the limit of characters. */
export function joinBounded (pieces: Iterable<string>, most?: number): string {
  const text = boundedText(most)
  for (const piece of pieces) text.add(piece)
  return text.whole()
}

/** What {@link readable} changes; hardly any text has it. */
// eslint-disable-next-line no-control-regex -- The pattern searches for control characters.
const unreadable = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/

/** Control characters that no text needs, and those that reverse text or hide its direction (Unicode 9.0, UAX #9). */
// eslint-disable-next-line no-control-regex -- The pattern searches for control characters.
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g

/** Text for a screen: line ends as `\n`, tabs as spaces, a control character as the replacement character. */
export function readable (text: string): string {
  if (!unreadable.test(text)) return text
  return text.replace(/\r\n?|[\u0085\u2028\u2029]/g, '\n').replaceAll('\t', ' ').replace(controls, '\ufffd')
}
