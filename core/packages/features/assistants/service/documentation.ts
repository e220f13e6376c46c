import { lazy } from '@dispatch/common'
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** A part of a page: what stands under one heading. `path`: of the page, from the root of the project. */
export type Part = { title: string, path: string, text: string }

const root = fileURLToPath(new URL('../../../../..', import.meta.url))
/** The pages for those who use the service, run it, or set up a provider. An installation may lack some. */
const pages = ['README.md', 'plugins/README.md', 'templates/README.md', 'core/packages/client/README.md',
  'core/packages/features/*/README.md', 'providers/*/README.md']

/** How many parts are found at most, and how many characters of each are told. */
const [most, longest] = [5, 2_000]

const parts = lazy(() => globSync(pages, { cwd: root }).sort().flatMap((path) => partsOf(path, readFileSync(`${root}/${path}`, 'utf8'))))

/** The parts of the documentation that have most of the words of a query, those first that have them in their title. */
export function searchDocumentation (query: string): Part[] {
  const words = wordsOf(query)
  return parts().map((part) => ({ part, rank: rankOf(part, words) })).filter(({ rank }) => rank > 0).sort((one, other) =>
    other.rank - one.rank
  )
    .slice(0, most).map(({ part: { text, ...part } }) => ({ ...part, text: text.slice(0, longest) }))
}

/** A page in its parts. In code, a line with a number sign is no heading. */
export function partsOf (path: string, markdown: string): Part[] {
  const found: { title: string, lines: string[] }[] = []
  let isCode = false
  for (const line of markdown.split(/\r?\n/)) {
    if (line.startsWith('```')) isCode = !isCode
    const [, title] = isCode ? [] : /^#{1,4} (.+)$/.exec(line) ?? []
    if (title === undefined) found.at(-1)?.lines.push(line)
    else found.push({ title, lines: [] })
  }
  const [page] = found
  return found.map(({ title, lines }, index) => ({
    title: index === 0 || page === undefined ? title : `${page.title}: ${title}`,
    path,
    text: lines.join('\n').trim()
  }))
}

/** A word in the title counts as much as three in the text; how often it stands there does not count. */
function rankOf ({ title, text }: Part, words: readonly string[]): number {
  const [inTitle, inText] = [wordsOf(title), wordsOf(text)].map((all) => new Set(all))
  return words.reduce((sum, word) => sum + (inTitle?.has(word) === true ? 3 : 0) + (inText?.has(word) === true ? 1 : 0), 0)
}

/** Words in small letters, without a plural. */
function wordsOf (text: string): string[] {
  return (text.toLowerCase().match(/[\p{L}\d]{2,}/gu) ?? []).map((word) => word.length > 3 ? word.replace(/s$/, '') : word)
}
