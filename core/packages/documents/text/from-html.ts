import { decodeHTML } from 'entities'
import { safeLinkOf } from '../compile/links.ts'
import { wrap } from './wrap.ts'

/** The most characters of a line of mail. */
const width = 76

/** Elements that begin and end with a new line, and those with an empty line before and after. */
const lines = new Set(['br', 'div', 'tr', 'li', 'dt', 'dd', 'section', 'article', 'header', 'footer', 'main', 'nav', 'aside', 'figure',
  'figcaption', 'form', 'fieldset', 'center', 'caption', 'thead', 'tbody', 'tfoot'])
const paragraphs = new Set(['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ul', 'ol', 'dl', 'table', 'blockquote', 'pre', 'address', 'hr'])

/** Elements that a reader does not see. */
const unseen = new Set(['script', 'style', 'title', 'template'])

/**
 * The plain text of an HTML mail, as a reader would see it, in lines: the URL of a link comes after its words, the words of a picture are
 * in brackets. The time is proportional to the length of the HTML, even with deep nesting or broken markup, because no tree is built.
 */
export function textOfHtml (html: string): string {
  const page = createPage()
  for (const piece of piecesOf(html)) {
    if (typeof piece === 'string') page.write(decodeHTML(piece))
    else draw(page, piece)
  }
  return page.text()
}

/** A tag: its name in lower case, whether it ends an element, and its whole content. */
type Tag = { name: string, ends: boolean, source: string }

/** The tags of a page and the texts between them, without comments and invisible elements. */
function* piecesOf (html: string): Generator<string | Tag> {
  let at = 0
  while (at < html.length) {
    const tag = tagAt(html, at)
    if (tag === undefined) {
      const end = endOf(html, /<(?=[a-z/!?])/gi, at + 1)
      yield html.slice(at, end)
      at = end
    } else {
      const { name, ends, source } = tag
      at += source.length
      if (!ends && unseen.has(name)) at = endOf(html, new RegExp(`</${name}\\b`, 'gi'), at)
      else if (name !== '') yield tag
    }
  }
}

/** The begin of a tag or a comment at a position; a lone `<` begins nothing. */
function tagAt (html: string, at: number): Tag | undefined {
  if (html.startsWith('<!--', at)) return { name: '', ends: false, source: html.slice(at, endOf(html, /-->/g, at + 4, 3)) }
  const [, slash, name] = /^<(\/?)([a-z][a-z0-9]{0,20}|[!?])/i.exec(html.slice(at, at + 24)) ?? []
  if (name === undefined) return undefined
  return {
    name: /[!?]/.test(name) ? '' : name.toLowerCase(),
    ends: slash === '/',
    source: html.slice(at, endOfTag(html, at + name.length))
  }
}

/** The position after the `>` that ends a tag; a `>` in quotes does not end it. A tag without an end reaches to the end of the page. */
function endOfTag (html: string, from: number): number {
  for (let at = from; at < html.length; at++) {
    const character = html[at]
    if (character === '>') return at + 1
    // A quote begins a value only where a value is expected.
    if ((character === '"' || character === '\'') && html[at - 1] === '=') at = endOf(html, character === '"' ? /"/g : /'/g, at + 1)
  }
  return html.length
}

function endOf (html: string, end: RegExp, from: number, length = 0): number {
  end.lastIndex = from
  const found = end.exec(html)
  return found === null ? html.length : found.index + length
}

type Page = ReturnType<typeof createPage>

/** Collects a text line by line. */
function createPage () {
  const done: string[] = []
  let line = ''
  let gap = false
  const links: { url: string, words: string }[] = []
  const end = (isParagraph: boolean): void => {
    if (line.trim() !== '') done.push(...gap && done.length > 0 ? [''] : [], ...wrap(line.trim(), width))
    gap = line.trim() === '' ? gap || isParagraph : isParagraph
    line = ''
  }
  return {
    write (text: string): void {
      const words = text.replaceAll(/[\s\u00A0]+/g, ' ')
      line += words
      const link = links.at(-1)
      if (link !== undefined) link.words += words
    },
    end,
    /** The open lists: the number of the next item, or 0 for a list without numbers. */
    lists: [] as number[],
    links,
    text (): string {
      end(false)
      return done.join('\n')
    }
  }
}

function draw (page: Page, tag: Tag): void {
  const { name, ends } = tag
  const isInner = (name === 'ul' || name === 'ol') && page.lists.length > (ends ? 1 : 0)
  if (paragraphs.has(name) && !isInner) page.end(true)
  else if (isInner || lines.has(name)) page.end(false)
  if (Object.hasOwn(drawers, name)) drawers[name]?.(page, tag, ends)
}

const drawers: Readonly<Record<string, (page: Page, tag: Tag, ends: boolean) => void>> = {
  hr: (page) => {
    page.write('-'.repeat(width))
    page.end(true)
  },
  td: (page) => page.write(' '),
  th: (page) => page.write(' '),
  img (page, tag) {
    const words = attribute(tag, 'alt').trim()
    if (words !== '') page.write(`[${words}]`)
  },
  a (page, tag, ends) {
    const link = page.links.pop()
    if (!ends) page.links.push({ url: safeLinkOf(attribute(tag, 'href').trim()) ?? '', words: '' })
    else if (link !== undefined && link.url !== '' && !isSaid(link.words, link.url)) page.write(` <${link.url}>`)
  },
  ol (page, _tag, ends) {
    if (ends) page.lists.pop()
    else page.lists.push(1)
  },
  ul (page, _tag, ends) {
    if (ends) page.lists.pop()
    else page.lists.push(0)
  },
  li (page, _tag, ends) {
    if (ends) return
    const number = page.lists.pop() ?? 0
    page.write(number === 0 ? '- ' : `${number}. `)
    page.lists.push(number === 0 ? 0 : number + 1)
  }
}

/** Whether the text of a link is its URL. */
function isSaid (words: string, url: string): boolean {
  return [url, url.replace(/^(mailto|tel):/i, '')].includes(words.trim())
}

/** The decoded value of an attribute; empty if there is none. */
function attribute ({ source }: Tag, name: string): string {
  const [, ...values] = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s>"']+))`, 'i').exec(source.slice(0, 5000)) ?? []
  return decodeHTML(values.find((value?: string) => value !== undefined) ?? '')
}
