import { type Html, html } from '../../html.ts'

/** How a part of a bar is coloured. */
type Tone = 'succeeded' | 'open' | 'attention' | 'failed'

/** A bar of parts, and the list that it leads to. `title`: what it says when pointed at. */
export type Bar = { label: string, title: string, href: string, parts: readonly { tone: Tone, size: number }[] }

/** In units of a drawing. */
const [width, height, foot, lineHeight, thickness, letter] = [360, 150, 20, 30, 14, 7]

const sizeOf = ({ parts }: Bar): number => parts.reduce((sum, { size }) => sum + size, 0)

// Keys and readers of the screen have the table beside a drawing, with the same numbers and links.
const drawing = (tall: number, content: Html): Html =>
  html`<svg class="chart" viewBox="0 0 ${String(width)} ${String(tall)}" aria-hidden="true">${content}</svg>`

const link = ({ href, title }: Bar, content: Html): Html => html`<a href="${href}" tabindex="-1"><title>${title}</title>${content}</a>`

/** Bars beside each other, as time goes by. `max`: how the size of the highest is written. */
export function columns (bars: readonly Bar[], max: (size: number) => string): Html {
  const highest = Math.max(1, ...bars.map(sizeOf))
  const [room, each] = [height - foot - 18, width / Math.max(1, bars.length)]
  const drawn = bars.map((bar, index) => {
    // There is no list of nothing.
    if (sizeOf(bar) === 0) return html``
    const left = (index * each).toFixed(1)
    let bottom = height - foot
    const parts = bar.parts.filter(({ size }) => size > 0).map(({ tone, size }) => {
      const tall = Math.max(1, size / highest * room)
      bottom -= tall
      return html`<rect class="${tone}" x="${left}" y="${bottom.toFixed(1)}" width="${(each * 0.8).toFixed(1)}" height="${
        tall.toFixed(1)
      }" />`
    })
    const whole = html`<rect class="hit" x="${left}" y="0" width="${each.toFixed(1)}" height="${String(height - foot)}" />`
    return link(bar, html`${whole}${parts}`)
  })
  const [first, last] = [bars.at(0), bars.at(-1)]
  return drawing(height,
    html`<text x="0" y="12">${max(highest)}</text>${drawn}<text x="0" y="${String(height - 4)}">${first?.label ?? ''}</text>
<text x="${String(width)}" y="${String(height - 4)}" text-anchor="end">${last?.label ?? ''}</text>`)
}

/** Bars below each other, each with its name. */
export function lines (bars: readonly Bar[]): Html {
  const max = Math.max(1, ...bars.map(sizeOf))
  const room = Math.min(width / 2, Math.max(90, ...bars.map(({ label }) => label.length * letter)))
  const drawn = bars.map((bar, index) => {
    const top = index * lineHeight + (lineHeight - thickness) / 2
    let left = room
    const parts = bar.parts.filter(({ size }) => size > 0).map(({ tone, size }) => {
      const wide = Math.max(1, size / max * (width - room))
      const part = html`<rect class="${tone}" x="${left.toFixed(1)}" y="${String(top)}" width="${wide.toFixed(1)}" height="${
        String(thickness)
      }" />`
      left += wide
      return part
    })
    return link(bar, html`<text x="0" y="${String(top + 11)}">${shortened(bar.label, room)}</text>${parts}`)
  })
  return drawing(bars.length * lineHeight, html`${drawn}`)
}

function shortened (label: string, room: number): string {
  const max = Math.floor(room / letter)
  return label.length <= max ? label : `${label.slice(0, max - 1).toWellFormed()}…`
}
