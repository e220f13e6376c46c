import { lazy } from '@dispatch/common'
import { code128Modules } from '../code/code128.ts'
import { ean13Modules } from '../code/ean13.ts'
import { qrFault, qrModules } from '../code/qr.ts'
import type { Code } from '../model/blocks.ts'
import type { CodeBlock, Modules, Symbology } from '../model/document.ts'
import { renderError } from '../model/errors.ts'
import { points } from '../model/paper.ts'
import { type CompileContext, contextBelow, reportFault } from './compile-context.ts'
import { compileExpression } from './expression.ts'
import { liquidText } from './liquid.ts'
import { type CodeText, compilePayment } from './payment.ts'
import { compileProse, plainText } from './prose.ts'
import { type Scope, spend } from './scope.ts'

/** A code before it is drawn: `modules` draws it, `width` and `height` are its default size in millimetres. */
type Drawing = { modules: () => Modules, width: number, height: number }
/** How a symbology is drawn, or a sentence that says why it cannot hold the text. */
type Draw = (text: string) => Drawing | string

const draw: Readonly<Record<Symbology, Draw>> = {
  // A QR code takes far longer than a barcode, and formats that show its words do not need its modules.
  qr: (text) => qrFault(text) ?? { modules: lazy(() => qrModules(text)), width: 30, height: 30 },
  code128: (text) => barcode(code128Modules(text), 15),
  ean13: (text) => barcode(ean13Modules(text), 22.85)
}

/** A module of a barcode is 0.33 mm wide. */
function barcode (modules: Modules | string, height: number): Drawing | string {
  return typeof modules === 'string' ? modules : { modules: () => modules, width: modules.columns * 0.33, height }
}

/** Compiles a machine-readable code. Without a value it is left out. A value that it cannot hold is a RenderError. */
export function compileCode (source: Code, site: CompileContext): (scope: Scope) => CodeBlock | undefined {
  const { symbology, content } = compileContent(source, site)
  const words = compileProse(source.alt ?? '', contextBelow(site, 'alt'))
  const caption = compileProse(source.caption ?? '', contextBelow(site, 'caption'))
  const { align = 'start' } = source
  return (scope) => {
    const found = content(scope)
    if (found === undefined) return undefined
    spend(scope, 'characters', found.text.length)
    const drawing = draw[symbology](found.text)
    if (typeof drawing === 'string') throw renderError(found.at, 'bad_code', drawing)
    const label = plainText(caption(scope)) || (symbology === 'qr' ? '' : found.text)
    const { modules } = drawing
    return { kind: 'code', symbology, modules, ...sizeOf(source, symbology, drawing), align, alt: plainText(words(scope)), label }
  }
}

function compileContent (source: Code, site: CompileContext): { symbology: Symbology, content: CodeText } {
  const given = (['qr', 'code128', 'ean13', 'epc'] as const).filter((key) => source[key] !== undefined)
  const [key] = given
  if (given.length !== 1) reportFault(site, 'Expected one of "qr", "code128", "ean13" (an expression) or "epc" (true).')
  if (key === undefined) return { symbology: 'qr', content: () => undefined }
  if (key === 'epc') return { symbology: 'qr', content: compilePayment(contextBelow(site, 'epc')) }
  return { symbology: key, content: compileValue(source[key] ?? '', contextBelow(site, key)) }
}

function compileValue (value: string, site: CompileContext): CodeText {
  const expression = compileExpression(value, site, 'whole')
  return (scope) => {
    const text = liquidText(expression.find(scope), () => expression.pointer(scope))
    return text === '' ? undefined : { text, at: expression.pointer(scope) }
  }
}

/** A QR code is square, so the given side counts for both. */
function sizeOf ({ width, height }: Code, symbology: Symbology, usual: Drawing): { width: number, height: number } {
  if (symbology !== 'qr') return { width: points(width ?? usual.width), height: points(height ?? usual.height) }
  const side = points(width ?? height ?? usual.width)
  return { width: side, height: side }
}
