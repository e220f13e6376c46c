import { directionOf } from '../compile/direction.ts'
import type { PageBox, ResolvedBlock, ResolvedDocument } from '../model/document.ts'
import { renderError } from '../model/errors.ts'
import { renderLimits } from '../model/limits.ts'
import { layOut, layOutBody } from './blocks.ts'
import { type Box, type Cut, nothing } from './box.ts'
import type { LayoutContext } from './context.ts'
import { cjkLanguageOf } from './fallback-fonts.ts'
import type { Surface } from './surface.ts'
import { watermarkPainter } from './watermark.ts'

/** A page that is ready to be painted. */
export type LaidOutPage = { paint: (surface: Surface) => void }

/** The distance in points between the body and the header or footer. */
const edgeGap = 10
/** The least height in points that a body needs. */
const leastBody = 72

/** Lays a document out on pages. Throws a RenderError when there are too many pages, or when header and footer leave too little space. */
export function layOutPages (document: ResolvedDocument): LaidOutPage[] {
  const { page, body, footer } = document
  const setting = settingOf(document)
  const footerHeight = edgeHeight(layOut(footer, widthOf(page), setting))
  const tops = {
    first: page.top + edgeHeight(layOut(headerOf(document, 1), widthOf(page), setting)),
    later: page.top + edgeHeight(layOut(headerOf(document, 2), widthOf(page), setting))
  }
  const bottom = page.height - page.bottom - footerHeight
  const room = { first: bottom - tops.first, later: bottom - tops.later }
  const least = Math.min(room.first, room.later)
  if (widthOf(page) < leastBody || least < leastBody) {
    throw renderError('', 'no_room', 'The margins, header and footer of the template leave no room for the body.')
  }
  const bodies = paginate(layOutBody(body, page, tops, { ...setting, pageHeight: least }), room)
  const under = document.watermark === undefined ? () => undefined : watermarkPainter(document.watermark, page, setting)
  return bodies.map((box, index) => ({
    paint (surface) {
      under(surface)
      paintPage(document, box, { ...setting, numbers: { page: index + 1, pages: bodies.length } }, surface,
        index === 0 ? tops.first : tops.later)
    }
  }))
}

function paintPage (document: ResolvedDocument, body: Box, setting: LayoutContext, surface: Surface, top: number): void {
  const { page, footer } = document
  layOut(headerOf(document, setting.numbers.page), widthOf(page), setting).paint(surface, page.left, page.top)
  body.paint(surface, page.left, top)
  const bottom = layOut(footer, widthOf(page), setting)
  bottom.paint(surface, page.left, page.height - page.bottom - bottom.height)
}

function settingOf ({ page, style, locale }: ResolvedDocument): LayoutContext {
  return {
    style,
    locale,
    direction: directionOf(locale),
    cjkLanguage: cjkLanguageOf(locale),
    pageHeight: page.height - page.top - page.bottom,
    numbers: { page: 1, pages: 1 }
  }
}

function headerOf ({ header, firstHeader }: ResolvedDocument, page: number): ResolvedBlock[] {
  return page === 1 ? firstHeader ?? header : header
}

function widthOf ({ width, left, right }: PageBox): number {
  return width - left - right
}

function edgeHeight (edge: Box): number {
  return edge.height === 0 ? 0 : edge.height + edgeGap
}

/** Points on the first page and on the later ones. */
type Room = { first: number, later: number }

/** A page that is left empty. */
const blank: Box = { ...nothing }

/** Cuts the body into pages. */
function paginate (body: Box, room: Room): Box[] {
  const pages: Box[] = []
  let left: Box | undefined = body
  while (left !== undefined) {
    const height = pages.length === 0 ? room.first : room.later
    const cut: Cut | undefined = left.height <= height ? [left, undefined] : left.cut?.(height, room.later)
    // Content that is too high for any page gets a page of its own. On a first page with less space than the others, it may still fit on
    // the next one.
    const [now, later]: Cut = cut ?? (height < room.later ? [blank, left] : [left, undefined])
    // A page break at the very start does not make an empty page.
    if (now.height > 0 || now === blank) pages.push(now)
    if (pages.length > renderLimits.pages) throw renderError('', 'too_large', `The document has more than ${renderLimits.pages} pages.`)
    left = later
  }
  return pages.length === 0 ? [nothing] : pages
}
