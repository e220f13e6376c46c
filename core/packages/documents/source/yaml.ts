import { type Document, isMap, isNode, isScalar, LineCounter, type Node, parseDocument, visit } from 'yaml'
import { type Fault, TemplateError } from '../model/errors.ts'

/** Adds line and column in its file to a fault. */
export type LocateFault = (fault: Fault) => Fault

/** Parses YAML text. Throws a TemplateError with the place of the first error; further errors mostly follow from it. */
export function readYaml (text: string, file: string): { value: unknown, place: LocateFault } {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false, logLevel: 'error' })
  const place: LocateFault = (fault) => ({ ...fault, file, ...position(lines, offsetOf(document, fault.path)) })
  const [error] = document.errors
  if (error !== undefined) {
    throw new TemplateError([{ path: '', message: sentenceOf(error), file, ...position(lines, error.pos[0]) }], { cause: error })
  }
  const wrong = faultIn(document)
  if (wrong !== undefined) {
    throw new TemplateError([{ path: '', message: wrong.message, file, ...position(lines, wrong.node.range?.[0] ?? 0) }])
  }
  try {
    return { value: document.toJS(), place }
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error
    throw new TemplateError([{ path: '', message: `${error.message}.`, file }], { cause: error })
  }
}

/** Far more than a template that a person writes, and few enough for the parser, which looks for each of them from the start. */
const maxAliases = 100

/**
 * A key that is there twice, or too many aliases. This walk looks at each key once; the parser would compare each with all others of its
 * map, and take 20 seconds for 30,000 of them.
 */
function faultIn (document: Document): { node: Node, message: string } | undefined {
  let aliases = 0
  let found: { node: Node, message: string } | undefined
  visit(document, {
    Alias (_key, node) {
      if (++aliases <= maxAliases) return undefined
      found = { node, message: `More than ${maxAliases} aliases.` }
      return visit.BREAK
    },
    Map (_key, { items }) {
      const names = new Set<unknown>()
      for (const { key } of items) {
        if (!isScalar(key)) continue
        if (names.has(key.value)) {
          found = { node: key, message: `The key "${String(key.value).slice(0, 50)}" is there twice.` }
          return visit.BREAK
        }
        names.add(key.value)
      }
      return undefined
    }
  })
  return found
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
