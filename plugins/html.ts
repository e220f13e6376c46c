/** Markup that is written as it stands. */
export type Html = { readonly markup: string }

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\'': '&#39;' }

/** Markup around values: texts are escaped, for elements and quoted attributes alike; lists stand one after the other. */
export function html (markup: TemplateStringsArray, ...values: readonly (string | Html | readonly Html[])[]): Html {
  let text = markup[0] ?? ''
  for (const [index, value] of values.entries()) text += written(value) + (markup[index + 1] ?? '')
  return { markup: text }
}

const special = /[&<>"']/

function written (value: string | Html | readonly Html[]): string {
  // Most texts have nothing to escape, and a page has hundreds.
  if (typeof value === 'string') {
    return special.test(value) ? value.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character) : value
  }
  if ('markup' in value) return value.markup
  let text = ''
  for (const { markup } of value) text += markup
  return text
}
