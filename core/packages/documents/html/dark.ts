import { inFlow } from '../compile/flow.ts'
import type { ResolvedBlock, ResolvedDocument } from '../model/document.ts'

/** The colours of the background and of the paper, in light and in dark mode. */
export const canvas = { light: '#eef1f4', dark: '#11151a' } as const
export const paper = { light: '#ffffff', dark: '#1b2026' } as const
/** Lines between the rows of a table. */
export const hair = { light: '#d5dbe1', dark: '#3b444e' } as const

/**
 * The style sheet for dark mode. It finds the inline colours, and turns dark text on light paper into light text on dark paper with the
 * same contrast. Mail programs without dark mode show the light colours, or invert them.
 */
export function darkStyles (document: ResolvedDocument): string {
  const grounds = [canvas, paper].map(({ light, dark }) => `[bgcolor="${light}"]{background:${dark}!important}`)
  const texts = [...colorsOf(document)].map((color) => `[style*="color:${color}"]{color:${lightened(color)}!important}`)
  return '@media ' +
    `(prefers-color-scheme:dark){${[...grounds, ...texts, `[style*="${hair.light}"]{border-color:${hair.dark}!important}`].join('')}}`
}

/** The colours of text. The text of a button is on its own background. */
function colorsOf ({ style, header, firstHeader = [], body, footer }: ResolvedDocument): Set<string> {
  const own = [...header, ...firstHeader, ...body, ...footer].flatMap((block) => blockColors(block, style))
  return new Set([style.text, style.accent, style.muted, ...own])
}

function blockColors (block: ResolvedBlock, style: ResolvedDocument['style']): string[] {
  const deep = (blocks: readonly ResolvedBlock[]): string[] => blocks.flatMap((inner) => blockColors(inner, style))
  switch (block.kind) {
    case 'heading':
    case 'paragraph':
      return [block.color]
    case 'columns':
      return deep(block.columns.flatMap(({ blocks }) => blocks))
    case 'group':
      return deep(block.blocks)
    case 'address':
      return deep(inFlow(block, style))
    default:
      return []
  }
}

/** The least contrast of readable text (WCAG 2.2, 1.4.3), and the highest that does not dazzle. */
const [readable, glaring] = [4.5, 12]

/** Mixes a colour with white until its contrast with dark paper is what it was with white paper. */
function lightened (color: string): string {
  const desired = Math.min(glaring, Math.max(readable, contrast(color, paper.light)))
  const mixed = Array.from({ length: 21 }, (_, step) => mixedWithWhite(color, step / 20))
  return mixed.find((candidate) => contrast(candidate, paper.dark) >= desired) ?? paper.light
}

function mixedWithWhite (color: string, share: number): string {
  return `#${channels(color).map((channel) => Math.round(channel + (255 - channel) * share).toString(16).padStart(2, '0')).join('')}`
}

/** WCAG 2.2, "contrast ratio" and "relative luminance". */
function contrast (one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (lighter + 0.05) / (darker + 0.05)
}

function luminance (color: string): number {
  const [red = 0, green = 0, blue = 0] = channels(color).map((channel) => {
    const share = channel / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function channels (color: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16))
}
