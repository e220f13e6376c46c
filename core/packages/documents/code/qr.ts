import { encodeQR } from 'qr'
import type { Modules } from '../model/document.ts'
import { modulesOf } from './modules.ts'

/** The width of the quiet zone on each side in modules (ISO/IEC 18004, 5.3.8). */
const quietZone = 4

/** The capacity of the largest symbol (version 40, level M) in bytes. */
const capacity = 2331

/** A QR code (ISO/IEC 18004) of a text in UTF-8, level M, or a sentence that says what is wrong with the text. */
export function qrModules (text: string): Modules | string {
  if (Buffer.byteLength(text) > capacity) return `A QR code holds at most ${capacity} bytes.`
  return modulesOf(encodeQR(text, 'raw', { ecc: 'medium', border: quietZone }))
}
