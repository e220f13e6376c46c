import { lazy } from '@dispatch/common'
import { token } from '@dispatch/plugins/feature'
import type { Html } from '@dispatch/plugins/routes'
import { type ApiDocument, apiPages } from './api.ts'
import { linksOf, type Page, picturesIn, readPages } from './library.ts'
import { markdownOf, markupOf } from './markdown.ts'
import { indexOf, partsOf } from './search.ts'

/** A part of a page that was found: its address from the root of the service, and its text as Markdown. */
export type FoundPart = { title: string, address: string, text: string }

/** The pages of the documentation, read once when they are first asked for. */
export type Documentation = {
  /** The pages from the files of the project. */
  pages: () => readonly Page[]
  /** A page of these, or of the reference. */
  page: (address: string) => Page | undefined
  markup: (page: Page) => Html
  /** For programs: its links lead to other pages. */
  markdown: (page: Page) => string
  /** Bytes of a picture that a page shows, by its path from the root of the project. */
  picture: (path: string) => Buffer | undefined
  /** The parts that have most of the words of a query, at most so many: of pages, and operations of the API. */
  search: (query: string, max: number) => FoundPart[]
  /** Where the reference is made from, when somebody first asks for it. */
  describe: (readApi: () => ApiDocument) => void
}

export const documentation = token<Documentation>('documentation')

/** The addresses of the pages that are made of the OpenAPI document. */
const reference = /^reference(\/|$)/

/** Reads the pages of the documentation and finds parts of them by their words. Unknown pages are undefined. */
export function createDocumentation (): Documentation {
  const library = lazy(() => {
    const pages = readPages()
    return {
      pages,
      byAddress: new Map(pages.map((page) => [page.address, page])),
      linkOf: linksOf(pages),
      pictures: picturesIn(pages)
    }
  })
  let readApi: (() => ApiDocument) | undefined
  const api = lazy(() => readApi === undefined ? [] : apiPages(readApi()))
  const apiByAddress = lazy(() => new Map(api().map((page) => [page.address, { ...page, ...ofReference }])))
  const index = lazy(() =>
    indexOf([
      ...library().pages.flatMap(({ address, markdown }) =>
        partsOf(markdown).map(({ title, anchor, text }) => ({
          title,
          address: `/docs/${address}${anchor === '' ? '' : `#${anchor}`}`,
          text
        }))
      ),
      ...api().filter(({ isFound }) => isFound).map(({ address, title, markdown }) => ({
        title,
        address: `/docs/${address}`,
        text: markdown.slice(markdown.indexOf('\n')).trim()
      }))
    ])
  )
  return {
    pages: () => library().pages,
    page: (address) => reference.test(address) ? apiByAddress().get(address) : library().byAddress.get(address),
    markup: (page) => markupOf(page.markdown, (link) => library().linkOf(page, link), page.language),
    markdown: (page) => markdownOf(page.markdown, (link) => library().linkOf(page, link)),
    picture: (path) => library().pictures.get(path)?.(),
    search: (query, max) => index()(query, max),
    describe: (read) => {
      readApi = read
    }
  }
}

const ofReference = { section: 'Reference', listed: false, language: 'en' } as const
