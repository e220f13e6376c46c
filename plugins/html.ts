/** Markup that is written as it stands. */
export type Html = { readonly markup: string }

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\'': '&#39;' }

/** Markup around values: texts are escaped, for elements and quoted attributes alike; lists stand one after the other. */
export function html (markup: TemplateStringsArray, ...values: readonly (string | Html | readonly Html[])[]): Html {
  return { markup: String.raw({ raw: markup }, ...values.map(written)) }
}

function written (value: string | Html | readonly Html[]): string {
  if (typeof value === 'string') return value.replaceAll(/[&<>"']/g, (character) => entities[character] ?? character)
  return 'markup' in value ? value.markup : value.map(({ markup }) => markup).join('')
}
