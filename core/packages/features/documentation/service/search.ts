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

/** Finds parts by the words of a query. */
export type Index<Found> = (query: string, max: number) => Found[]

/** A word in the title counts as much as three in the text; how often it stands there does not count. */
const [inTitle, inText] = [3, 1]

/**
 * An index of parts, made once: anybody may search, and the texts are long. It finds those that have most of the words of a query, those
 * first that have them in their title, and else in their order.
 */
export function indexOf<Found extends { title: string, text: string }> (parts: readonly Found[]): Index<Found> {
  const postings = new Map<string, Map<number, number>>()
  const add = (text: string, place: number, weight: number): void => {
    for (const word of new Set(wordsOf(text))) {
      const known = postings.get(word) ?? new Map<number, number>()
      known.set(place, (known.get(place) ?? 0) + weight)
      postings.set(word, known)
    }
  }
  for (const [place, { title, text }] of parts.entries()) {
    add(title, place, inTitle)
    add(text, place, inText)
  }
  return (query, max) => {
    const ranks = new Map<number, number>()
    for (const word of wordsOf(query)) {
      for (const [place, weight] of postings.get(word) ?? []) ranks.set(place, (ranks.get(place) ?? 0) + weight)
    }
    return [...ranks].sort(([one, rank], [other, otherRank]) => otherRank - rank || one - other).slice(0, max)
      .flatMap(([place]) => parts[place] ?? [])
  }
}

/** Words in small letters, without a plural. */
function wordsOf (text: string): string[] {
  return (text.toLowerCase().match(/[\p{L}\d]{2,}/gu) ?? []).map((word) => word.length > 3 ? word.replace(/s$/, '') : word)
}
