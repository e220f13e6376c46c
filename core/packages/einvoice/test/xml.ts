/** An element without its prefix; `text` is its content, if it contains no other elements. */
export type Element = { name: string, attributes: Readonly<Record<string, string>>, children: Element[], text: string }

const token = /<\?[^?]*\?>|<\/([\w:]+)>|<([\w:]+)((?:\s+[\w:]+="[^"<]*")*)\s*(\/?)>|([^<]+)/gy
const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: '\'' }

/** Reads an XML document strictly: it throws for anything that is not well-formed or not a character of XML 1.0. */
export function readXml (xml: string): Element {
  // oxlint-disable-next-line no-control-regex -- The pattern is for control characters.
  if (/[\0-\x08\x0B\x0C\x0E-\x1F\uFFFE\uFFFF]|\p{Cs}/u.test(xml)) throw new SyntaxError('a character that XML does not have')
  const top: Element = { name: '', attributes: {}, children: [], text: '' }
  const open = [top]
  let end = 0
  for (const match of xml.matchAll(token)) {
    end = match.index + match[0].length
    const [, closed, opened, attributes = '', empty, text] = match
    const parent = open.at(-1) ?? top
    if (text !== undefined) parent.text += unescape(text)
    if (closed !== undefined && local(closed) !== open.pop()?.name) throw new SyntaxError(`</${closed}> closes another element`)
    if (opened === undefined) continue
    const element = { name: local(opened), attributes: attributesIn(attributes), children: [], text: '' }
    parent.children.push(element)
    if (empty === '') open.push(element)
  }
  const [root] = top.children
  if (end !== xml.length || open.length !== 1 || root === undefined || top.children.length !== 1) {
    throw new SyntaxError(`not well-formed at ${end}: ${xml.slice(end, end + 60)}`)
  }
  return root
}

function local (name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

function attributesIn (text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(/([\w:]+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, unescape(value)]))
}

function unescape (text: string): string {
  if (/&(?!(?:amp|lt|gt|quot|apos);)/.test(text) || text.includes(']]>')) throw new SyntaxError(`not escaped: ${text.slice(0, 60)}`)
  return text.replaceAll(/&(\w+);/g, (_, name: string) => entities[name] ?? '')
}

/** The element and all below it. */
export function elements (root: Element): Element[] {
  return [root, ...root.children.flatMap(elements)]
}

/** The elements at a path of names. */
export function all (root: Element, path: string): Element[] {
  return path.split('/').reduce<Element[]>(
    (found, name) => found.flatMap(({ children }) => children.filter((child) => child.name === name)),
    [root]
  )
}

/** The text at a path of names. */
export function textAt (root: Element, path: string): string | undefined {
  return all(root, path)[0]?.text
}
