import { readable } from '../model/output.ts'

/** HTML as a tree. Text is unescaped until {@link serialize} writes it. */
export type Node = string | Element
export type Element = { tag: Tag, attributes: HtmlAttributes, children: Iterable<Node> }
export type Tag =
  | 'a'
  | 'b'
  | 'body'
  | 'br'
  | 'div'
  | 'h1'
  | 'h2'
  | 'h3'
  | 'head'
  | 'html'
  | 'i'
  | 'img'
  | 'meta'
  | 'p'
  | 'style'
  | 'table'
  | 'tbody'
  | 'td'
  | 'tfoot'
  | 'th'
  | 'thead'
  | 'title'
  | 'tr'

/** `style` is written as inline CSS. */
export type HtmlAttributes = Readonly<Record<string, string | number | Css>>
/** CSS properties; a number is a length in pixels. */
export type Css = Readonly<Record<string, string | number>>

/** An element; its children may be created while they are written. */
export function htmlElement (tag: Tag, attributes: HtmlAttributes, children: Iterable<Node> = []): Element {
  return { tag, attributes, children }
}

/** Elements without content or end tag. */
const empty: ReadonlySet<Tag> = new Set<Tag>(['br', 'img', 'meta'])

/** Writes a tree piece by piece. Only here text becomes HTML. */
export function serialize (node: Node, add: (piece: string) => void): void {
  if (typeof node === 'string') {
    add(escape(node))
    return
  }
  const { tag, attributes, children } = node
  add(`<${tag}${attributesOf(attributes)}>`)
  if (empty.has(tag)) return
  for (const child of children) {
    if (tag === 'style' && typeof child === 'string') add(raw(child))
    else serialize(child, add)
  }
  add(endsLine.has(tag) ? `</${tag}>\n` : `</${tag}>`)
}

/** A style sheet is not text: nothing in it is escaped, and no markup may end it. */
function raw (sheet: string): string {
  return sheet.replaceAll('<', '')
}

/** A line break after these is invisible, and makes the source readable. */
const endsLine: ReadonlySet<Tag> = new Set<Tag>(['body', 'head', 'meta', 'table', 'td', 'th', 'title', 'tr'])

function attributesOf (attributes: HtmlAttributes): string {
  let written = ''
  for (const name in attributes) {
    const value = attributes[name] ?? ''
    written += ` ${name}="${typeof value === 'object' ? inline(value) : escape(String(value))}"`
  }
  return written
}

/** The rows of a table share the looks of their cells. */
const writtenCss = new WeakMap<Css, string>()

function inline (css: Css): string {
  const known = writtenCss.get(css)
  if (known !== undefined) return known
  const written = escape(
    Object.entries(css).map(([property, value]) => `${property}:${typeof value === 'number' && value !== 0 ? `${value}px` : value}`)
      .join(';')
  )
  writtenCss.set(css, written)
  return written
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\'': '&#39;' }

const special = /[&<>"']/

function escape (text: string): string {
  const shown = readable(text)
  return special.test(shown) ? shown.replace(/[&<>"']/g, (character) => entities[character] ?? character) : shown
}
