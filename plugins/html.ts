import { isUnseen, withoutDirectionControls } from '@dispatch/common'

/** Markup that is written as it stands. */
export type Html = { readonly markup: string }

/**
 * Markup around values: texts are escaped, for elements and quoted attributes alike, and can be read: nothing in them turns around, covers
 * or hides what stands beside them, and none is unseen. What a form sends back, in `value="…"` and at the end of a textarea, is what it
 * was. Lists stand one after the other.
 */
export function html (markup: TemplateStringsArray, ...values: readonly (string | Html | readonly Html[])[]): Html {
  // By index: most pages are opened too seldom for the engine to make a loop over entries fast.
  let text = markup[0] ?? ''
  for (let index = 0; index < values.length; index++) {
    const value = values[index] ?? ''
    const after = markup[index + 1] ?? ''
    // Most texts have nothing to escape, and a page has hundreds.
    if (typeof value !== 'string') text += markupOf(value) + after
    else if (!special.test(value)) text += value + after
    // Quotation marks alone are no reason to look at each character: most long texts have some.
    else if (!unusual.test(value)) text += escaped(value) + after
    else text += escaped(isSent(markup[index] ?? '', after) ? value : readable(value)).replace(turning, numbered) + after
  }
  return { markup: text }
}

/** Whether a text between these is one that a form sends. */
function isSent (before: string, after: string): boolean {
  return before.endsWith(' value="') || after.startsWith('</textarea>')
}

/** What `readable` has to look at: controls, marks on letters, and what nobody sees. */
const unusualOnes =
  '\\0-\\x08\\v\\f\\x0e-\\x1f\\x7f-\\x9f\\xad\\u0300-\\u036f\\u0483-\\u0489\\u061c\\u115f\\u1160\\u1ab0-\\u1aff\\u1dc0-\\u1dff' +
  '\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u20d0-\\u20ff\\u2800\\u3164\\ufe00-\\ufe2f\\ufeff\\uffa0'
const unusual = new RegExp(`[${unusualOnes}]`)
/** The same, and what has to be escaped. */
const special = new RegExp(`[&<>"'${unusualOnes}]`)

function markupOf (value: Html | readonly Html[]): string {
  if ('markup' in value) return value.markup
  let text = ''
  for (const { markup } of value) text += markup
  return text
}

const controls = /(?![\t\n\r])\p{Cc}/gu

/** More marks on one letter than any language has: they would cover the lines above and below. */
const marks = /(\p{M}{8})\p{M}+/gu

/** How many characters are named of a text that nobody would see. */
const named = 3

/**
 * A text as people can read it: in the order in which it was written, with a sign in the place of each control character, at most eight
 * marks on one letter. One in which nothing can be seen is told by its first characters, as `U+200B U+2060`.
 */
function readable (text: string): string {
  const shown = withoutDirectionControls(text).replace(controls, signOf).replace(marks, '$1')
  if (shown !== '' && !isUnseen(shown)) return shown
  const codes = Array.from(text, (one) => `U+${one.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`)
  return `${codes.slice(0, named).join(' ')}${codes.length > named ? ' …' : ''}`
}

/** The picture that Unicode has of a control character; the later ones have none. */
function signOf (control: string): string {
  const code = control.charCodeAt(0)
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? '\u2421' : '\ufffd'
}

/** One character after the other is twice as fast as all of them by a pattern. */
function escaped (text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll('\'', '&#39;')
}

/** Controls that turn a text around stand as their numbers: they must not turn the source of the page around. */
const turning = /[\u202a-\u202e\u2066-\u2069]/g
const numbered = (one: string): string => `&#${String(one.charCodeAt(0))};`
