import { withoutDirectionControls } from '@dispatch/common'
import { type RenderError, renderError } from './errors.ts'
import { renderLimits } from './limits.ts'

/** A text in UTF-8. `isVaried`: it repeats so little that its size is nearly the same at any level. */
export type Utf8 = { readonly utf8: Uint8Array, readonly isVaried?: true }

/** A text that grows by pieces. `add` throws a RenderError when it exceeds its limit of characters, before it fills the memory. */
export type BoundedText = { add: (piece: string) => void, whole: () => string }

/** An empty text that may have at most so many characters. */
export function boundedText (max: number = renderLimits.output): BoundedText {
  let text = ''
  return {
    add (piece) {
      text += piece
      if (text.length > max) throw tooLong(max)
    },
    whole: () => text
  }
}

/** Joins the pieces to one text. Throws a RenderError when they exceed the limit of characters. */
export function joinBounded (pieces: Iterable<string>, max?: number): string {
  const text = boundedText(max)
  for (const piece of pieces) text.add(piece)
  return text.whole()
}

/** So many characters are encoded at once. */
const encodedAtOnce = 1 << 14

/**
 * The pieces as one text in UTF-8. Throws a RenderError when they exceed the limit of characters. A long text is encoded while it grows:
 * a million pieces that are joined at the end are copied by the garbage collector again and again, and read from slow memory.
 */
export function encodeBounded (pieces: Iterable<string>, max: number): Utf8 {
  const bytes: Buffer[] = []
  let [text, room] = ['', max]
  for (const piece of pieces) {
    text += piece
    if (text.length < encodedAtOnce && text.length <= room) continue
    if (text.length > room) throw tooLong(max)
    room -= text.length
    bytes.push(Buffer.from(text))
    text = ''
  }
  return { utf8: bytes.length === 0 ? Buffer.from(text) : Buffer.concat([...bytes, Buffer.from(text)]) }
}

function tooLong (max: number): RenderError {
  return renderError('', 'too_large', `The text of the document, with its layout, has more than ${max} characters.`)
}

/** What {@link readable} changes; hardly any text has it. */
// oxlint-disable-next-line no-control-regex -- The pattern searches for control characters.
const unreadable = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/

/** Control characters that no text needs. */
// oxlint-disable-next-line no-control-regex -- The pattern searches for control characters.
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g

/** Text for a screen: line ends as `\n`, tabs as spaces, nothing that turns it around, a control character as the replacement character. */
export function readable (text: string): string {
  if (!unreadable.test(text)) return text
  return withoutDirectionControls(text).replace(/\r\n?|[\u0085\u2028\u2029]/g, '\n').replaceAll('\t', ' ')
    .replace(controls, '\ufffd')
}

/** Text for a header of a mail: {@link readable}, with each line break and what stands around it as one space. */
export function inOneLine (text: string): string {
  return readable(text).split('\n').map((line) => line.trim()).filter((line) => line !== '').join(' ')
}
