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
function rankOf ({ title, text }: { title: string, text: string }, words: readonly string[]): number {
  const [inTitle, inText] = [wordsOf(title), wordsOf(text)].map((all) => new Set(all))
  return words.reduce((sum, word) => sum + (inTitle?.has(word) === true ? 3 : 0) + (inText?.has(word) === true ? 1 : 0), 0)
}

/** Words in small letters, without a plural. */
function wordsOf (text: string): string[] {
  return (text.toLowerCase().match(/[\p{L}\d]{2,}/gu) ?? []).map((word) => word.length > 3 ? word.replace(/s$/, '') : word)
}
