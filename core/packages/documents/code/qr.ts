import { encodeQR } from 'qr'
import type { Modules } from '../model/document.ts'
import { modulesOf } from './modules.ts'

/** The width of the quiet zone on each side in modules (ISO/IEC 18004, 5.3.8). */
const quietZone = 4

/** The capacity of the largest symbol (version 40, level M) in bytes. */
const capacity = 2331

/** A sentence that says why a QR code cannot hold the text; undefined when it can. */
export function qrFault (text: string): string | undefined {
  return Buffer.byteLength(text) > capacity ? `A QR code holds at most ${capacity} bytes.` : undefined
}

/** A QR code (ISO/IEC 18004) of a text in UTF-8 that it can hold, level M. */
export function qrModules (text: string): Modules {
  return modulesOf(encodeQR(text, 'raw', { ecc: 'medium', border: quietZone }))
}
