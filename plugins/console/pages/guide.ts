import { type Html, html } from '../../html.ts'
import { fill, type Words } from '../language/language.ts'
import { type Api, ApiRefused, type GuideView, withQuery } from '../session/api.ts'

/** The guide of a provider, and how it is set up in the language of the reader; undefined where it has none. */
export async function readGuide (api: Pick<Api, 'send'>, code: string, language: string): Promise<Guides | undefined> {
  const read = async (one: string): Promise<GuideView | undefined> => {
    const answer = await api.send<GuideView>('GET',
      withQuery(`/api/v1/providers/${encodeURIComponent(code)}/guide`, one === 'en' ? {} : { language: one }))
    if (answer.ok) return answer.body
    if (answer.status !== 404) throw new ApiRefused(answer)
    return undefined
  }
  const [whole, own] = await Promise.all([read('en'), language === 'en' ? undefined : read(language)])
  return whole && { ...whole, ...own && { own: own.guide } }
}

/** `own`: how it is set up, in the language of the reader. */
export type Guides = Pick<GuideView, 'guide' | 'cut'> & { own?: string }

/**
 * The guide of a provider, which its README.md has in Markdown: sections that unfold, those for setting it up open. Headings, paragraphs,
 * lists, tables and code become elements; all else, HTML too, is shown as it is written. Guides are English; where there is one in the
 * language of the reader, it comes first, and the English one is folded.
 */
export function guideSection (words: Words, name: string, found: Guides | undefined): Html {
  if (found === undefined) return html``
  const { guide, cut, own } = found
  const whole = html`<div lang="en">${guideIn(guide)}</div>`
  return html`<section aria-labelledby="guide" class="guide"><h2 id="guide">${fill(words.guideOf, { name })}</h2>${
    own === undefined ? whole : html`<div>${guideIn(own)}</div><details><summary>${words.guideWhole}</summary>${whole}</details>`
  }${cut ? html`<p class="quiet">${words.guideCut}</p>` : html``}</section>`
}

function guideIn (guide: string): Html {
  const [first = [], ...others] = sectionsOf(guide.replaceAll('\r\n', '\n').split('\n'))
  return html`${blocks(withoutTitle(first))}${
    others.map(([title = '', ...lines]) => {
      const text = title.replace(/^## +/, '')
      return html`<details${isForSettingUp(text) ? html` open` : html``}><summary>${inline(text)}</summary>${blocks(lines)}</details>`
    })
  }`
}

/** The title says what the heading above the guide says. In code, such a line is a comment. */
function withoutTitle (lines: readonly string[]): readonly string[] {
  const at = lines.findIndex((line) => line.startsWith('# ') || line.startsWith(fence))
  return lines[at]?.startsWith('# ') === true ? lines.toSpliced(at, 1) : lines
}

function isForSettingUp (title: string): boolean {
  return /^(?:At|Chez) /.test(title) || title === 'Settings'
}

/** The lines of a page, parted before each heading of the second level; a fence hides what stands in it. */
function sectionsOf (lines: readonly string[]): string[][] {
  const sections: string[][] = [[]]
  let isFenced = false
  for (const line of lines) {
    if (line.startsWith(fence)) isFenced = !isFenced
    if (!isFenced && line.startsWith('## ')) sections.push([])
    sections.at(-1)?.push(line)
  }
  return sections
}

const fence = '```'
const item = /^(?:[-*]|\d{1,3}\.) +/

/** What a line begins, by which the lines that belong together are found. */
function kindOf (line: string): 'fence' | 'heading' | 'table' | 'list' | 'blank' | 'text' {
  if (line.startsWith(fence)) return 'fence'
  if (/^#{1,6} /.test(line)) return 'heading'
  if (line.startsWith('|')) return 'table'
  if (item.test(line)) return 'list'
  return line.trim() === '' ? 'blank' : 'text'
}

function blocks (lines: readonly string[]): Html {
  const made: Html[] = []
  for (let at = 0; at < lines.length;) {
    const kind = kindOf(lines[at] ?? '')
    const block = lines.slice(at, endOf(lines, at, kind))
    made.push(blockOf(kind, block))
    at += block.length
  }
  return html`${made}`
}

/** The line behind a block that begins at a line. */
function endOf (lines: readonly string[], from: number, kind: ReturnType<typeof kindOf>): number {
  if (kind === 'heading' || kind === 'blank') return from + 1
  let end = from + 1
  while (end < lines.length && goesOn(kind, lines[end] ?? '')) end++
  return kind === 'fence' ? Math.min(lines.length, end + 1) : end
}

function goesOn (kind: ReturnType<typeof kindOf>, line: string): boolean {
  if (kind === 'fence') return !line.startsWith(fence)
  return kindOf(line) === kind || (kind === 'list' && line.startsWith('  '))
}

function blockOf (kind: ReturnType<typeof kindOf>, lines: readonly string[]): Html {
  if (kind === 'blank') return html``
  if (kind === 'fence') return html`<pre>${lines.slice(1).filter((line) => !line.startsWith(fence)).join('\n')}</pre>`
  if (kind === 'heading') return html`<h3>${inline((lines[0] ?? '').replace(/^#+ +/, ''))}</h3>`
  if (kind === 'table') return tableOf(lines)
  return kind === 'list' ? listOf(lines) : html`<p>${inline(lines.join(' '))}</p>`
}

function listOf (lines: readonly string[]): Html {
  const items: string[] = []
  for (const line of lines) {
    if (item.test(line)) items.push(line.replace(item, ''))
    else items.push(`${items.pop() ?? ''} ${line.trim()}`)
  }
  const all = items.map((text) => html`<li>${inline(text)}</li>`)
  const [number] = /^\d+/.exec(lines[0] ?? '') ?? []
  if (number === undefined) return html`<ul>${all}</ul>`
  // A blank line or a block of code parts a list: its numbers go on behind it.
  return Number(number) === 1 ? html`<ol>${all}</ol>` : html`<ol start="${String(Number(number))}">${all}</ol>`
}

/** A table of GFM; in a narrow column each of its rows is a name with what is said of it. */
function tableOf (lines: readonly string[]): Html {
  const [head = [], ...rows] = lines.filter((line) => !/^[|: -]+$/.test(line)).map((line) =>
    line.replace(/^\||\|\s*$/g, '').split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'))
  )
  const said = ([, ...cells]: readonly string[]): Html[] =>
    cells.flatMap((cell, index) => {
      const title = head[index + 1] ?? ''
      return cell === ''
        ? []
        : [html`<dd>${title === '' ? html`` : html`<span class="quiet">${inline(title)}</span> `}${inline(cell)}</dd>`]
    })
  return html`<dl>${rows.map((row) => html`<dt>${inline(row[0] ?? '')}</dt>${said(row)}`)}</dl>`
}

// No part is without an end: a hostile page costs no more than its length.
const marks =
  /`(?<code>[^`]{1,300})`|\*\*(?<strong>[^*]{1,300})\*\*|\*(?<emphasis>[^*\s][^*]{0,300})\*|\[(?<text>[^\][]{1,300})\]\((?<to>[^()\s]{1,500})\)/g

/** A text with its marks: code, emphasis, links to other sites. Links within the repository lead nowhere here, and are their words. */
function inline (text: string): Html {
  const parts: (string | Html)[] = []
  let at = 0
  for (const { 0: whole, index, groups = {} } of text.matchAll(marks)) {
    parts.push(text.slice(at, index), markOf(groups))
    at = index + whole.length
  }
  return html`${[...parts, text.slice(at)].map((part) => html`${part}`)}`
}

function markOf ({ code, strong, emphasis, text = '', to = '' }: Partial<Record<string, string>>): Html {
  if (code !== undefined) return html`<code>${code}</code>`
  if (strong !== undefined) return html`<strong>${inline(strong)}</strong>`
  if (emphasis !== undefined) return html`<em>${inline(emphasis)}</em>`
  // Without the slashes a browser takes it as a path on the site that it is on (WHATWG URL, scheme state).
  return to.startsWith('https://') && URL.canParse(to) ? html`<a href="${to}" rel="noreferrer">${inline(text)}</a>` : inline(text)
}
