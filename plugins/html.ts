import { withoutDirectionControls } from '@dispatch/common'

/** Markup that is written as it stands. */
export type Html = { readonly markup: string }

/**
 * Markup around values: texts are escaped, for elements and quoted attributes alike, and turn nothing around that stands beside them; lists
 * stand one after the other.
 */
export function html (markup: TemplateStringsArray, ...values: readonly (string | Html | readonly Html[])[]): Html {
  // By index: most pages are opened too seldom for the engine to make a loop over entries fast.
  let text = markup[0] ?? ''
  for (let index = 0; index < values.length; index++) text += written(values[index] ?? '') + (markup[index + 1] ?? '')
  return { markup: text }
}

const special = /[&<>"'\u202a-\u202e\u2066-\u2069]/

function written (value: string | Html | readonly Html[]): string {
  // Most texts have nothing to escape, and a page has hundreds.
  if (typeof value === 'string') return special.test(value) ? escaped(value) : value
  if ('markup' in value) return value.markup
  let text = ''
  for (const { markup } of value) text += markup
  return text
}

/** A text in a quoted attribute whose reader sends it back: controls that turn it around stand there as their numbers. */
export function unchanged (text: string): Html {
  return {
    markup: text.split(/([\u202a-\u202e\u2066-\u2069])/).map((part, index) => index % 2 === 0 ? escaped(part) : `&#${part.charCodeAt(0)};`)
      .join('')
  }
}

/** One character after the other is twice as fast as all of them by a pattern. */
function escaped (text: string): string {
  return withoutDirectionControls(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
    .replaceAll('\'', '&#39;')
}
