/** A piece of an XML document; '' is nothing. */
export type XmlFragment = string
type Attributes = Readonly<Record<string, string | undefined>>

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\'': '&apos;',
  '\n': '&#10;',
  '\t': '&#9;'
}

function escape (text: string): string {
  // Most texts contain none of them.
  return /[&<>"']/.test(text) ? text.replaceAll(/[&<>"']/g, (character) => escapes[character] ?? character) : text
}

/** Readers make spaces of line breaks in attributes, unless they are written as references. */
function escapeInAttribute (text: string): string {
  return /[&<>"'\n\t]/.test(text) ? text.replaceAll(/[&<>"'\n\t]/g, (character) => escapes[character] ?? character) : text
}

/** An element with a text; nothing if there is no text. */
export function value (name: string, text: string | undefined, attributes?: Attributes): XmlFragment {
  return text === undefined ? '' : `<${name}${attributes === undefined ? '' : written(attributes)}>${escape(text)}</${name}>`
}

/** An element with other elements; nothing if all of them are nothing. */
export function group (name: string, children: readonly XmlFragment[], attributes?: Attributes): XmlFragment {
  const content = joined(children)
  return content === '' ? '' : `<${name}${attributes === undefined ? '' : written(attributes)}>${content}</${name}>`
}

/** A whole document with the namespaces of its prefixes. */
export function document (name: string, namespaces: Attributes, children: readonly XmlFragment[]): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${name}${written(namespaces)}>${joined(children)}</${name}>\n`
}

/** Adding is faster than joining: V8 copies the pieces once, when the whole is read. */
function joined (pieces: readonly XmlFragment[]): string {
  let whole = ''
  for (const piece of pieces) whole += piece
  return whole
}

function written (attributes: Attributes): string {
  let whole = ''
  for (const name in attributes) {
    const text = attributes[name]
    if (text !== undefined) whole += ` ${name}="${escapeInAttribute(text)}"`
  }
  return whole
}
