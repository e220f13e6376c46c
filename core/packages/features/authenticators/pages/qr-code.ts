import { type Html, html } from '@dispatch/plugins/console'
import { encodeQR } from 'qr'

/** A QR code as an image of black on white, whatever the colours of the page: not every camera reads the inverse. */
export function qrCode (text: string, label: string): Html {
  const rows = encodeQR(text, 'raw', { ecc: 'medium', border: 4 })
  const size = rows.length
  const path = rows.flatMap((row, y) => row.flatMap((dark, x) => dark ? [`M${x},${y}h1v1h-1z`] : [])).join('')
  return html`<svg class="qr" role="img" aria-label="${label}" viewBox="0 0 ${String(size)} ${String(size)}" shape-rendering="crispEdges">
<path fill="#fff" d="M0,0h${String(size)}v${String(size)}H0z"/><path fill="#000" d="${path}"/></svg>`
}
