import type { Json, JsonObject, Problem } from '@dispatch/common'
import { refusal } from '@dispatch/contract'
import type { cellTypes, Mapping } from '../contract/batches.ts'

/** What is made of the cells of a row: the fields of the body of a dispatch, or the problems of cells. */
export type Columns = (cells: readonly string[]) => { fields: JsonObject } | { problems: Problem[] }

type Cell = { index: number, name: string, pointer: string, tokens: readonly string[], type: typeof cellTypes[number] }

/** The most columns of a file. */
const maxColumns = 1_000

/**
 * How the columns with these names make a body: as a mapping says, or, without one, each by its own name, a JSON pointer. A token that is a
 * number is a place in a list. An empty cell is absent. Throws a refusal for a mapping that does not fit the columns.
 */
export function columnsOf (names: readonly string[], mapping: Mapping | undefined): Columns {
  if (names.length > maxColumns) {
    throw fault('/file', 'too_many', `The file has ${names.length} columns; at most ${maxColumns} are taken.`)
  }
  const cells = mapping === undefined ? named(names) : mapped(names, mapping)
  requireApart(cells)
  return (row) => {
    if (row.length !== names.length) {
      return { problems: [{ path: '', code: 'columns', message: `It has ${row.length} cells; the heading has ${names.length}.` }] }
    }
    const fields: Tree = new Map()
    const problems: Problem[] = []
    for (const cell of cells) {
      const text = row[cell.index] ?? ''
      if (text === '') continue
      const value = valueOf(text, cell.type)
      if (value === undefined) problems.push({ path: cell.pointer, code: 'type', message: `"${cell.name}" is no ${wordOf[cell.type]}.` })
      else place(fields, cell.tokens, value)
    }
    return problems.length > 0 ? { problems } : { fields: jsonOf(fields) as JsonObject }
  }
}

const wordOf: Readonly<Record<Cell['type'], string>> = {
  text: 'text',
  number: 'number, such as 12.50',
  boolean: 'true or false',
  json: 'JSON'
}

function fault (path: string, code: string, message: string): Error {
  return refusal('validation_error', [{ path, code, message }])
}

function named (names: readonly string[]): Cell[] {
  return names.map((name, index) => {
    const pointer = name === 'id' ? '/id' : name
    const tokens = tokensOf(pointer)
    if (tokens === undefined) {
      throw fault('/mapping', 'required',
        `The column "${name.slice(0, 60)}" is no JSON pointer such as /template/data/name: say with "mapping" where its cells stand.`)
    }
    return { index, name, pointer, tokens, type: 'text' }
  })
}

function mapped (names: readonly string[], mapping: Mapping): Cell[] {
  return Object.entries(mapping).map(([name, target]) => {
    const index = names.indexOf(name)
    const { pointer, type } = typeof target === 'string' ? { pointer: target, type: 'text' as const } : target
    const tokens = tokensOf(pointer)
    const path = `/mapping/${name.slice(0, 60).replaceAll('~', '~0').replaceAll('/', '~1')}`
    if (index === -1) {
      throw fault(path, 'unknown_column', `The file has no such column; it has ${names.slice(0, 20).join(', ').slice(0, 300)}.`)
    }
    if (tokens === undefined) throw fault(path, 'format', 'A JSON pointer is needed, such as /template/data/name.')
    return { index, name, pointer, tokens, type }
  })
}

/** The tokens of a JSON pointer (RFC 6901); undefined for a text that is none, or that reaches a prototype. */
function tokensOf (pointer: string): string[] | undefined {
  if (!/^(\/([^~/]|~[01])+){1,32}$/.test(pointer)) return undefined
  const tokens = pointer.slice(1).split('/').map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
  return tokens.includes('__proto__') ? undefined : tokens
}

/** No two columns may have the same place, and none may stand inside that of another. */
function requireApart (cells: readonly Cell[]): void {
  const sorted = cells.map(({ pointer }) => `${pointer}/`).sort()
  for (const [index, pointer] of sorted.entries()) {
    if (sorted[index + 1]?.startsWith(pointer) === true) {
      throw fault('/mapping', 'contradiction', `Two columns stand at ${pointer.slice(0, -1)}, or one inside the other.`)
    }
  }
}

function valueOf (text: string, type: Cell['type']): Json | undefined {
  if (type === 'text') return text
  if (type === 'number') return /^-?\d{1,15}([.,]\d{1,15})?$/.test(text.trim()) ? Number(text.trim().replace(',', '.')) : undefined
  if (type === 'boolean') return ({ true: true, false: false } as Record<string, boolean>)[text.trim().toLowerCase()]
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

/** What stands below a place, by its next token. */
type Tree = Map<string, Tree | { value: Json }>

function place (tree: Tree, [token = '', ...rest]: readonly string[], value: Json): void {
  if (rest.length === 0) {
    tree.set(token, { value })
    return
  }
  const below = tree.get(token)
  const branch: Tree = below === undefined || 'value' in below ? new Map<string, Tree | { value: Json }>() : below
  tree.set(token, branch)
  place(branch, rest, value)
}

/** A list where all tokens are numbers: its items in their order, without those whose cells are all empty. */
function jsonOf (tree: Tree): Json {
  const members = [...tree].map(([token, below]): [string, Json] => [token, below instanceof Map ? jsonOf(below) : below.value])
  return members.every(([token]) => /^(0|[1-9]\d{0,3})$/.test(token)) && members.length > 0
    ? members.sort(([one], [other]) => Number(one) - Number(other)).map(([, value]) => value)
    : Object.fromEntries(members)
}
