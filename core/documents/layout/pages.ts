import type { ResolvedDocument } from '../document.ts'
import { renderError } from '../errors.ts'
import { limits } from '../limits.ts'
import { layOut } from './blocks.ts'
import { nothing, type Box, type Cut } from './box.ts'
import type { Setting } from './setting.ts'
import type { Surface } from './surface.ts'

/** A page ready to be painted. */
export type Page = { paint: (surface: Surface) => void }

/** Points between the body and the header or footer. */
const edgeGap = 10
/** Points of height that a body needs. */
const leastBody = 72

/** Lays a document out on pages. A RenderError when there are too many, or when header and footer leave no room. */
export function layOutPages (document: ResolvedDocument): Page[] {
  const { page, style, locale, header, footer, body } = document
  const width = page.width - page.left - page.right
  const setting: Setting = { style, locale, pageHeight: page.height - page.top - page.bottom, numbers: { page: 1, pages: 1 } }
  const headerHeight = edgeHeight(layOut(header, width, setting))
  const footerHeight = edgeHeight(layOut(footer, width, setting))
  const room = setting.pageHeight - headerHeight - footerHeight
  if (width < leastBody || room < leastBody) throw renderError('', 'no_room', 'The margins, header and footer of the template leave no room for the body.')
  const bodies = paginate(layOut(body, width, { ...setting, pageHeight: room }), room)
  return bodies.map((box, index) => {
    const numbers = { page: index + 1, pages: bodies.length }
    return {
      paint (surface) {
        layOut(header, width, { ...setting, numbers }).paint(surface, page.left, page.top)
        box.paint(surface, page.left, page.top + headerHeight)
        const bottom = layOut(footer, width, { ...setting, numbers })
        bottom.paint(surface, page.left, page.height - page.bottom - bottom.height)
      }
    }
  })
}

function edgeHeight (edge: Box): number {
  return edge.height === 0 ? 0 : edge.height + edgeGap
}

/** Cuts the body into pages of a height (points). */
function paginate (body: Box, height: number): Box[] {
  const pages: Box[] = []
  let left: Box | undefined = body
  while (left !== undefined) {
    const [now, later]: Cut = left.height <= height ? [left, undefined] : left.cut?.(height, height) ?? [left, undefined]
    // A page break at the very start leaves nothing before it.
    if (now.height > 0) pages.push(now)
    if (pages.length > limits.pages) throw renderError('', 'too_large', `The document has more than ${limits.pages} pages.`)
    left = later
  }
  return pages.length === 0 ? [nothing] : pages
}
