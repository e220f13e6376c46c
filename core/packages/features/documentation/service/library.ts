import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path/posix'
import { fileURLToPath } from 'node:url'
import { errorPages } from './errors.ts'

/**
 * `address`: below `/docs`. `file`: from the root of the project; a page that is made has none. `listed`: it stands in the menu, which is
 * English. `other`: the address of the same page in the other language.
 */
export type Page = {
  address: string
  section: string
  title: string
  markdown: string
  file?: string
  listed: boolean
  language: Language
  other?: string
}

/** The guides of people who use the console are there in French, too. */
export type Language = 'en' | 'fr'

const root = fileURLToPath(new URL('../../../../..', import.meta.url))
const guides = 'core/packages/features/documentation/guides'

/** What is read, in the order of the menu. `below` begins the addresses; `at` is the whole one. An installation may lack some. */
const shelves: readonly { section: string, files: string, below?: string, at?: string }[] = [
  { section: 'Begin', files: `${guides}/begin/*.md` },
  { section: 'Services', files: 'core/packages/services/*/README.md', below: 'services/' },
  { section: 'Guides', files: `${guides}/how/*.md` },
  { section: 'Guides', files: 'core/packages/client/README.md' },
  { section: 'Guides', files: 'core/packages/client/samples/README.md' },
  { section: 'Guides', files: 'core/packages/features/{assistants,batches}/README.md' },
  { section: 'Guides', files: 'templates/README.md' },
  { section: 'Reference', files: 'plugins/guides/*.md', below: 'for/' },
  { section: 'Running the service', files: 'scripts/packaging/README.md' },
  { section: 'Running the service', files: 'core/packages/features/marketplace/README.md' },
  { section: 'Running the service', files: 'SECURITY.md' },
  { section: 'Extending it', files: 'providers/README.md', at: 'writing-a-provider' },
  { section: 'Extending it', files: 'core/packages/marketplace/README.md', at: 'publishing-an-adapter' },
  { section: 'Extending it', files: 'core/packages/features/README.md' },
  { section: 'Extending it', files: 'core/README.md', at: 'architecture' },
  { section: 'Extending it', files: 'core/guides/*.md', below: 'architecture/' },
  { section: 'Extending it', files: 'plugins/README.md', at: 'http-service' },
  { section: 'Providers', files: 'providers/*/README.md', below: 'providers/' },
  { section: 'Providers', files: 'providers/community/*/README.md', below: 'providers/' },
  { section: 'Templates', files: 'templates/*/README.md', below: 'templates/' },
  { section: 'About', files: 'README.md', at: 'overview' },
  { section: 'About', files: 'CHANGELOG.md' }
]

/** All pages, in the order of the menu. */
export function readPages (): Page[] {
  const found: Page[] = shelves.flatMap(({ section, files, below = '', at }) =>
    globSync(files, { cwd: root }).sort().map((file) => {
      const markdown = readFileSync(join(root, file), 'utf8')
      const language = file.endsWith('.fr.md') ? 'fr' : 'en'
      const address = at ?? `${language === 'fr' ? 'fr/' : ''}${below}${nameOf(file)}`
      return { address, section, title: titleOf(markdown), markdown, file, language, listed: language === 'en' }
    })
  )
  const after = found.findLastIndex(({ section }) => section === 'Guides') + 1
  const pages = found.toSpliced(after, 0, ...errorPages().map((page) => ({ ...page, section: 'Guides', language: 'en' as const })))
  const addresses = new Set(pages.map(({ address }) => address))
  return pages.map((page) => {
    const other = page.language === 'fr' ? page.address.replace(/^fr\//, '') : `fr/${page.address}`
    return addresses.has(other) ? { ...page, other } : page
  })
}

/** A page is called after its file, in French as in English; `README.md` after its folder. A number before the name is its place. */
function nameOf (file: string): string {
  const name = basename(file, '.md').replace(/\.fr$/, '').toLowerCase()
  return name === 'readme' ? basename(dirname(file)) : name.replace(/^\d+-/, '')
}

function titleOf (markdown: string): string {
  return (/^# (.+)$/m.exec(markdown)?.[1] ?? '').replaceAll('`', '')
}

/** Where the links of a page lead: to other pages and their parts, and to pictures. */
export function linksOf (pages: readonly Page[]): (page: Page, link: string) => string | undefined {
  const known = new Map(pages.flatMap(({ file, address }) => file === undefined ? [] : [[file, address]]))
  return ({ file }, link) => {
    if (link.startsWith('/')) return link
    if (file === undefined) return undefined
    const [path = '', part] = link.split('#', 2)
    const target = join(dirname(file), path)
    if (isPicture(target)) return `/docs/pictures/${target}`
    const address = known.get(target) ?? known.get(join(target, 'README.md'))
    return address === undefined ? undefined : `/docs/${address}${part === undefined ? '' : `#${part}`}`
  }
}

const isPicture = (path: string): boolean => /\.(png|svg)$/.test(path)

/** The pictures that pages show, by their paths from the root of the project. No other file is served. */
export function picturesIn (pages: readonly Page[]): ReadonlyMap<string, () => Buffer> {
  return new Map(
    pages.flatMap(({ file = '', markdown }) =>
      [...markdown.matchAll(/!\[[^\]]*\]\(([^)\s]+)\)/g)].flatMap(([, link = '']): [string, () => Buffer][] => {
        const path = join(dirname(file), link)
        return isPicture(path) && !path.startsWith('..') ? [[path, () => readFileSync(join(root, path))]] : []
      })
    )
  )
}
