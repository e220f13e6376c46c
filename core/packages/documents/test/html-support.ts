/** An element of HTML with the text that stands directly in it, and the elements around it, itself the last. */
export type Found = { tag: string, attributes: Record<string, string>, text: string, around: readonly Found[] }

const token = /<(?<close>\/?)(?<tag>[a-z][a-z0-9]*)(?<attributes>(?: [a-z-]+="[^"<>]*")*)>|(?<text>[^<>]+)|(?<other>[<>])/g

/** The elements of a document, in their order. Stricter than a browser: an error where anything is not closed, quoted or escaped. */
export function elementsOf (html: string): Found[] {
  const found: Found[] = []
  const open: Found[] = []
  for (const { groups } of html.replace(/^<!doctype html>\n/, '').matchAll(token)) {
    const { close = '', tag, attributes = '', text, other } = groups ?? {}
    if (other !== undefined) throw new Error(`A ${other} is not escaped.`)
    if (text !== undefined) {
      const parent = open.at(-1)
      if (parent !== undefined) parent.text += decoded(text)
      else if (text.trim() !== '') throw new Error(`Text outside of the document: ${text}`)
    } else if (tag !== undefined && close === '/') {
      if (open.pop()?.tag !== tag) throw new Error(`</${tag}> closes what is not open.`)
    } else if (tag !== undefined) {
      const around: Found[] = [...open]
      const element = { tag, attributes: attributesOf(attributes), text: '', around }
      around.push(element)
      found.push(element)
      if (!['br', 'img', 'meta'].includes(tag)) open.push(element)
    }
  }
  if (open.length > 0) throw new Error(`<${open.at(-1)?.tag ?? ''}> is not closed.`)
  return found
}

function attributesOf (text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(/([a-z-]+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, decoded(value)]))
}

/** All text that a reader sees, without any white space. */
export function textIn (html: string): string {
  return decoded(html.replaceAll(/<style>[^<]*<\/style>|<[^>]*>/g, '')).replaceAll(/\s/g, '')
}

/** Text with its entities read; an error for a bare `&`. */
function decoded (text: string): string {
  return text.replaceAll(/&([a-z]+|#\d+)?;?/g, (entity) => {
    const character = entities[entity]
    if (character === undefined) throw new Error(`An & is not escaped: ${entity}`)
    return character
  })
}

const entities: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': '\'' }
