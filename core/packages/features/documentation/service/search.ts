import { slugs } from './markdown.ts'

/** A part of a page: what stands under one heading. `anchor`: its place in the page; the first part has none. */
export type Part = { title: string, anchor: string, text: string }

/** A page in its parts. In code, a line with a number sign is no heading. */
export function partsOf (markdown: string): Part[] {
  const found: { title: string, anchor: string, lines: string[] }[] = []
  const slug = slugs()
  let isCode = false
  for (const line of markdown.split(/\r?\n/)) {
    if (line.startsWith('```')) isCode = !isCode
    const [, title] = isCode ? [] : /^#{1,4} (.+)$/.exec(line) ?? []
    if (title === undefined) found.at(-1)?.lines.push(line)
    else found.push({ title: title.replaceAll('`', ''), anchor: slug(title), lines: [] })
  }
  const [page] = found
  return found.map(({ title, anchor, lines }, index) => ({
    title: index === 0 || page === undefined ? title : `${page.title}: ${title}`,
    anchor: index === 0 ? '' : anchor,
    text: lines.join('\n').trim()
  }))
}

/** Those that have most of the words of a query; those first that have them in their title. */
export function ranked<Found extends { title: string, text: string }> (parts: readonly Found[], query: string, most: number): Found[] {
  const words = wordsOf(query)
  return parts.map((part) => ({ part, rank: rankOf(part, words) })).filter(({ rank }) => rank > 0)
    .sort((one, other) => other.rank - one.rank).slice(0, most).map(({ part }) => part)
}

/** A word in the title counts as much as three in the text; how often it stands there does not count. */
function rankOf (part: { title: string, text: string }, words: readonly string[]): number {
  const [inTitle, inText] = indexOf(part)
  return words.reduce((sum, word) => sum + (inTitle.has(word) ? 3 : 0) + (inText.has(word) ? 1 : 0), 0)
}

/** The words of each part: anybody may search, and the texts are long. */
const indexed = new WeakMap<object, readonly [title: ReadonlySet<string>, text: ReadonlySet<string>]>()

function indexOf (part: { title: string, text: string }): readonly [title: ReadonlySet<string>, text: ReadonlySet<string>] {
  const known = indexed.get(part)
  if (known !== undefined) return known
  const made = [new Set(wordsOf(part.title)), new Set(wordsOf(part.text))] as const
  indexed.set(part, made)
  return made
}

/** Words in small letters, without a plural. */
function wordsOf (text: string): string[] {
  return (text.toLowerCase().match(/[\p{L}\d]{2,}/gu) ?? []).map((word) => word.length > 3 ? word.replace(/s$/, '') : word)
}
