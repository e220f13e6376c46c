import { lazy } from '@dispatch/common'
import { token } from '@dispatch/plugins/feature'
import type { Html } from '@dispatch/plugins/routes'
import { linksOf, type Page, picturesIn, readPages } from './library.ts'
import { markdownOf, markupOf } from './markdown.ts'
import { partsOf, ranked } from './search.ts'

/** A part of a page that was found: its address from the root of the service, and its text as Markdown. */
export type FoundPart = { title: string, address: string, text: string }

/** The pages of the documentation, read once when they are first asked for. */
export type Documentation = {
  pages: () => readonly Page[]
  page: (address: string) => Page | undefined
  markup: (page: Page) => Html
  /** For programs: its links lead to other pages. */
  markdown: (page: Page) => string
  /** Bytes of a picture that a page shows, by its path from the root of the project. */
  picture: (path: string) => Buffer | undefined
  /** The parts that have most of the words of a query, at most so many. */
  search: (query: string, most: number) => FoundPart[]
}

export const documentation = token<Documentation>('documentation')

export function createDocumentation (): Documentation {
  const library = lazy(() => {
    const pages = readPages()
    return {
      pages,
      byAddress: new Map(pages.map((page) => [page.address, page])),
      linkOf: linksOf(pages),
      pictures: picturesIn(pages),
      parts: lazy(() =>
        pages.flatMap(({ address, markdown }) =>
          partsOf(markdown).map(({ title, anchor, text }) => ({
            title,
            address: `/docs/${address}${anchor === '' ? '' : `#${anchor}`}`,
            text
          }))
        )
      )
    }
  })
  return {
    pages: () => library().pages,
    page: (address) => library().byAddress.get(address),
    markup: (page) => markupOf(page.markdown, (link) => library().linkOf(page, link)),
    markdown: (page) => markdownOf(page.markdown, (link) => library().linkOf(page, link)),
    picture: (path) => library().pictures.get(path)?.(),
    search: (query, most) => ranked(library().parts(), query, most)
  }
}
