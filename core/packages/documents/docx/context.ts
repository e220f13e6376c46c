import type { Direction } from '../compile/direction.ts'
import type { ResolvedStyle } from '../model/document.ts'
import type { Media, Relations } from './relations.ts'

/**
 * The facts that all blocks of a part share. `paragraph` is the style of its paragraphs; `media` and `relations` collect what it refers to.
 * `keepNext`: the content stays on one page with the next content.
 */
export type DocxContext = {
  style: ResolvedStyle
  locale: string
  direction: Direction
  paragraph: StyleId
  media: Media
  relations: Relations
  keepNext?: true
}

/** The styles of a document, as it names them. */
export type StyleId =
  | 'Normal'
  | 'Heading1'
  | 'Heading2'
  | 'Heading3'
  | 'Header'
  | 'Footer'
  | 'TableText'
  | 'TableHeading'
  | 'Label'
  | 'Signature'
