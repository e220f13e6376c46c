import { type HtmlMessage, renderHtml } from '../../render/html.ts'
import type { Maker } from '../format.ts'

/** An e-mail: HTML, its plain-text alternative and its pictures. */
export const make: Maker<HtmlMessage> = (page) => renderHtml(page())
