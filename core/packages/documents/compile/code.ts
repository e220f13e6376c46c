import { code128Modules } from '../code/code128.ts'
import { ean13Modules } from '../code/ean13.ts'
import { qrModules } from '../code/qr.ts'
import type { Code } from '../model/blocks.ts'
import type { CodeBlock, Modules, Symbology } from '../model/document.ts'
import { renderError } from '../model/errors.ts'
import { points } from '../model/paper.ts'
import { type CompileContext, contextBelow, reportFault } from '../source/compile-context.ts'
import { compileExpression } from './expression.ts'
import { liquidText } from './liquid.ts'
import { type CodeText, compilePayment } from './payment.ts'
import { compileProse, plainText } from './prose.ts'
import { type Scope, spend } from './scope.ts'

/** How a symbology is drawn, with its default size in millimetres. A module of a barcode is 0.33 mm wide. */
type Drawing = {
  modules: (text: string) => Modules | string
  size: (modules: Modules) => { width: number, height: number }
  isLabelled: boolean
}
const drawings: Readonly<Record<Symbology, Drawing>> = {
  qr: { modules: qrModules, size: () => ({ width: 30, height: 30 }), isLabelled: false },
  code128: { modules: code128Modules, size: ({ columns }) => ({ width: columns * 0.33, height: 15 }), isLabelled: true },
  ean13: { modules: ean13Modules, size: ({ columns }) => ({ width: columns * 0.33, height: 22.85 }), isLabelled: true }
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
    const modules = drawings[symbology].modules(found.text)
    if (typeof modules === 'string') throw renderError(found.at, 'bad_code', modules)
    const label = plainText(caption(scope)) || (drawings[symbology].isLabelled ? found.text : '')
    return { kind: 'code', symbology, modules, ...sizeOf(source, symbology, modules), align, alt: plainText(words(scope)), label }
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
    const at = expression.pointer(scope)
    const text = liquidText(expression.find(scope), at)
    return text === '' ? undefined : { text, at }
  }
}

/** A QR code is square, so the given side counts for both. */
function sizeOf ({ width, height }: Code, symbology: Symbology, modules: Modules): { width: number, height: number } {
  const usual = drawings[symbology].size(modules)
  if (symbology !== 'qr') return { width: points(width ?? usual.width), height: points(height ?? usual.height) }
  const side = points(width ?? height ?? usual.width)
  return { width: side, height: side }
}
