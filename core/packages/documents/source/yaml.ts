import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument } from 'yaml'
import { type Fault, TemplateError } from '../model/errors.ts'

/** Adds line and column in its file to a fault. */
export type LocateFault = (fault: Fault) => Fault

/** Parses YAML text. Throws a TemplateError with the place of the first error; further errors mostly follow from it. */
export function readYaml (text: string, file: string): { value: unknown, place: LocateFault } {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const place: LocateFault = (fault) => ({ ...fault, file, ...position(lines, offsetOf(document, fault.path)) })
  const [error] = document.errors
  if (error !== undefined) {
    throw new TemplateError([{ path: '', message: sentenceOf(error), file, ...position(lines, error.pos[0]) }], { cause: error })
  }
  try {
    return { value: document.toJS(), place }
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error
    throw new TemplateError([{ path: '', message: `${error.message}.`, file }], { cause: error })
  }
}

/** The parser's own message, except where it is meant for a programmer. */
function sentenceOf ({ code, message }: { code: string, message: string }): string {
  return code === 'MULTIPLE_DOCS' ? 'Expected one document: "---" begins a second one here.' : message.replace(/\.?$/, '.')
}

function position (lines: LineCounter, offset: number): { line: number, column: number } {
  const { line, col } = lines.linePos(offset)
  return { line, column: col }
}

/** The offset of the key or item at a JSON pointer, or of the innermost existing value around it. */
function offsetOf (document: Document, path: string): number {
  const keys = path.split('/').slice(1).map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
  for (let length = keys.length; length > 0; length--) {
    const parent = document.getIn(keys.slice(0, length - 1), true)
    const key = isMap(parent)
      ? parent.items.find((pair) => isScalar(pair.key) && pair.key.value === keys[length - 1])?.key
      : document.getIn(keys.slice(0, length), true)
    if (isNode(key) && key.range) return key.range[0]
  }
  return 0
}
