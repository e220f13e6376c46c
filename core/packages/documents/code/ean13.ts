import isEAN from 'validator/lib/isEAN.js'
import type { Modules } from '../model/document.ts'
import { modulesOf, rowOf } from './modules.ts'

/** The widths of a digit's modules, a space first (GS1 General Specifications, 5.2.1.2.1): sets A and C. Set B is A backwards. */
const widths = ['3211', '2221', '2122', '1411', '1132', '1231', '1114', '1312', '1213', '3112'].map((digit) => Array.from(digit, Number))

/** Which of the left six digits use set B: this encodes the first digit. */
const firstDigits = ['AAAAAA', 'AABABB', 'AABBAB', 'AABBBA', 'ABAABB', 'ABBAAB', 'ABBBAA', 'ABABAB', 'ABABBA', 'ABBABA']

/** The width of the quiet zone in modules. */
const quietZone = { left: 11, right: 7 }

/** An EAN-13 barcode of 13 digits, the last of them the check digit, or a sentence that says what is wrong with the text. */
export function ean13Modules (text: string): Modules | string {
  if (text.length !== 13 || !isEAN.default(text)) return 'Expected the 13 digits of an EAN, the last of them its check digit.'
  const sets = firstDigits[Number(text[0])] ?? ''
  const left = Array.from(text.slice(1, 7)).flatMap((digit, index) => sets[index] === 'B' ? widthsOf(digit).reverse() : widthsOf(digit))
  const right = Array.from(text.slice(7)).flatMap(widthsOf)
  // Guards at both ends and in the middle: bars and spaces of one module.
  const bars = [1, 1, 1, ...left, 1, 1, 1, 1, 1, ...right, 1, 1, 1]
  return modulesOf([rowOf(bars, quietZone.left, quietZone.right)])
}

function widthsOf (digit: string): number[] {
  return [...widths[Number(digit)] ?? []]
}
