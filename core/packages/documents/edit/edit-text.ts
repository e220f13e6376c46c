import { isDeepStrictEqual } from 'node:util'
import { Document, isAlias, isCollection, isMap, isScalar, isSeq, type Node, type Pair, parseDocument, Scalar, stringify, type YAMLMap,
  type YAMLSeq } from 'yaml'
import { readYaml } from '../source/yaml.ts'
import { changed, keysOf, placeIn, type TextEdit, valueAt } from './change.ts'

/** An edit that cannot be made without changing something else of the text. */
export class CannotEdit extends Error {}

/**
 * Makes edits in the text of a template, one after another, and changes no other line of it: comments, spaces and quotes stay as their
 * author wrote them. What stands in braces is written anew where one of its parts is edited. Throws CannotEdit where the text does not
 * permit them: it is no YAML, or an anchor in it stands for several places.
 */
export function editText (yaml: string, ...edits: readonly TextEdit[]): string {
  if (edits.length === 0) return yaml
  const desired = edits.reduce(wantedAfter, valueOf(yaml))
  const edited = edits.reduce((text, edit) => edit.do === 'set' ? withField(text, edit.path, edit.value) : withList(text, edit), yaml)
  // What the text says now shows whether the edits were right: its author may have used what is not thought of here. It is read once for
  // all of them, for it is the parser that takes the time.
  if (!isDeepStrictEqual(valueOf(edited), desired)) throw new CannotEdit('the edit would change something else')
  return edited
}

function wantedAfter (value: unknown, edit: TextEdit): unknown {
  const desired = changed(value, edit, edit.do === 'insert' ? itemOf(edit.text) : undefined)
  if (desired === undefined) throw new CannotEdit('there is no such place')
  return desired
}

/** An item of a list, as its author wrote it, from the left edge on: what `insert` takes. */
export function textOfItem (yaml: string, path: string): string {
  const { list, index } = placeIn(path)
  const { node, flow } = find(read(yaml), keysOf(list))
  if (!isSeq(node) || flow !== undefined) return newItem(valueAt(valueOf(yaml), keysOf(path)))
  const row = rowsOf(yaml, node)[index]
  if (row === undefined) throw new CannotEdit('there is no such item')
  const indent = new RegExp(`^ {0,${row.column}}`)
  return endedLine(yaml.slice(row.start, row.end).split('\n').map((line) => line.replace(indent, '')).join('\n'))
}

/** A new item of a list as YAML. */
export function newItem (value: unknown): string {
  return stringify([value], styled)
}

/** A text in quotes stands on one line, wherever it is put. */
const styled = { lineWidth: 0, doubleQuotedMinMultiLineLength: Infinity } as const

export function read (yaml: string): Document {
  const document = parseDocument(yaml, { keepSourceTokens: true, uniqueKeys: false, logLevel: 'error' })
  if (document.errors.length > 0) throw new CannotEdit('it is no YAML')
  return document
}

export function valueOf (yaml: string): unknown {
  try {
    return readYaml(yaml, '').value
  } catch (error) {
    throw new CannotEdit('it is no YAML', { cause: error })
  }
}

function itemOf (text: string): unknown {
  const items = valueOf(text)
  if (!Array.isArray(items) || items.length !== 1) throw new CannotEdit('it is no item')
  return items[0]
}

/** What stands at a place. `flow`: the outermost collection in braces around or at it. Undefined nodes are not there. */
type Found = { node: Node | undefined, pair: Pair | undefined, parent: Node | undefined, flow: Node | undefined }

function find (document: Document, keys: readonly string[]): Found {
  let found: Found = { node: document.contents ?? undefined, pair: undefined, parent: undefined, flow: undefined }
  for (const key of keys) {
    const { node, flow } = found
    if (isAlias(node)) throw new CannotEdit('it stands at another place too')
    const inside = flow ?? (isCollection(node) && node.flow === true ? node : undefined)
    if (isMap(node)) {
      const pair = node.items.find((one) => isScalar(one.key) && String(one.key.value) === key)
      found = { node: (pair?.value ?? undefined) as Node | undefined, pair, parent: node, flow: inside }
    } else if (isSeq(node)) found = { node: node.items[Number(key)] as Node | undefined, pair: undefined, parent: node, flow: inside }
    else return { node: undefined, pair: undefined, parent: undefined, flow: inside }
  }
  const { node, flow } = found
  return { ...found, flow: flow ?? (isCollection(node) && node.flow === true ? node : undefined) }
}

function withField (yaml: string, path: string, value: unknown): string {
  const document = read(yaml)
  const keys = keysOf(path)
  const { node, pair, parent, flow } = find(document, keys)
  if (flow !== undefined && flow !== node) return inBraces(yaml, document, flow, () => setIn(document, keys, value))
  if (!isMap(parent)) {
    // A field in what is not there: what is not there is made with it.
    const key = keys.at(-1)
    if (key === undefined || value === undefined) throw new CannotEdit('there is no such place')
    return withField(yaml, path.slice(0, path.lastIndexOf('/')), { [key]: value })
  }
  if (value === undefined) return withoutPair(yaml, parent as YAMLMap<Node, Node>, pair as Pair<Node, Node>)
  if (pair === undefined) return withPair(yaml, parent as YAMLMap<Node, Node>, keys.at(-1) ?? '', value)
  return withValue(yaml, pair as Pair<Node, Node>, node, value)
}

function withValue (yaml: string, pair: Pair<Node, Node>, old: Node | undefined, value: unknown): string {
  const column = columnOf(yaml, startOf(pair.key))
  const written = valueText(value, column, isScalar(old) ? old.type : undefined)
  const isLine = isScalar(old) && !isBlockScalar(old) && old.range != null && old.source !== ''
  if (isLine && !written.startsWith('\n')) return spliced(yaml, startOf(old), endOf(yaml, old), written)
  const from = afterColon(yaml, pair)
  return spliced(yaml, from, Math.max(from, old === undefined ? from : endOf(yaml, old)),
    written.startsWith('\n') ? written : ` ${written}`)
}

function withPair (yaml: string, map: YAMLMap<Node, Node>, key: string, value: unknown): string {
  const last = map.items.at(-1)
  if (map.flow === true || last === undefined) throw new CannotEdit('there is no such place')
  const column = columnOf(yaml, startOf(last.key))
  const written = valueText(value, column)
  const at = endOfLine(yaml, last.value === null ? afterColon(yaml, last) : endOf(yaml, last.value))
  return spliced(yaml, at, at,
    `\n${' '.repeat(column)}${stringify(key, styled).trimEnd()}:${written.startsWith('\n') ? '' : ' '}${written}`)
}

function withoutPair (yaml: string, map: YAMLMap<Node, Node>, pair: Pair<Node, Node>): string {
  const index = map.items.indexOf(pair)
  const [before, after] = [map.items[index - 1], map.items[index + 1]]
  if (index === -1) throw new CannotEdit('there is no such field')
  const end = pair.value === null ? afterColon(yaml, pair) : endOf(yaml, pair.value)
  if (before !== undefined) {
    return spliced(yaml, endOfLine(yaml, before.value === null ? afterColon(yaml, before) : endOf(yaml, before.value)),
      endOfLine(yaml, end), '')
  }
  if (after !== undefined) return spliced(yaml, startOf(pair.key), startOf(after.key), '')
  return spliced(yaml, startOf(pair.key), end, '{}')
}

/** A value behind the colon of its key, which stands at a column: on the same line, or on lines of its own. */
function valueText (value: unknown, column: number, type?: Scalar['type']): string {
  const node = new Document(value).contents
  if (isScalar(node)) {
    const isLong = typeof value === 'string' && value.includes('\n')
    // Space at its end would be lost behind the last line of a block.
    if (isLong) node.type = /\S\n?$/.test(value) ? Scalar.BLOCK_LITERAL : Scalar.QUOTE_DOUBLE
    else if (type === Scalar.QUOTE_DOUBLE || type === Scalar.QUOTE_SINGLE) node.type = type
  } else if (isCollection(node)) node.flow = node.items.length === 0 || isMap(node)
  const [, text = ''] = /^k:[ ]?([^]*)$/.exec(stringify({ k: node }, styled)) ?? []
  return text.trimEnd().replaceAll(/\n(?=[^\n])/g, `\n${' '.repeat(column)}`)
}

function withList (yaml: string, edit: Exclude<TextEdit, { do: 'set' }>): string {
  const document = read(yaml)
  const { list, index } = edit.do === 'insert' ? edit : placeIn(edit.path)
  const { node, flow } = find(document, keysOf(list))
  const isEmpty = node === undefined || isSeq(node) && node.items.length === 0 || isScalar(node) && node.value === null
  if (edit.do === 'insert' && isEmpty && (flow === undefined || flow === node)) return withFirst(yaml, list, edit.text)
  if (flow !== undefined) return inBraces(yaml, document, flow, () => change(document, keysOf(list), { ...edit, index }))
  if (!isSeq(node)) throw new CannotEdit('there is no such list')
  const rows = rowsOf(yaml, node)
  if (edit.do === 'insert') return withRow(yaml, rows, index, edit.text)
  const row = rows[index]
  if (row === undefined) throw new CannotEdit('there is no such item')
  if (edit.do === 'move') {
    const [first, second] = edit.by === 1 ? [row, rows[index + 1]] : [rows[index - 1], row]
    if (first === undefined || second === undefined) throw new CannotEdit('there is no such item')
    const [one, two] = [yaml.slice(first.start, first.end), yaml.slice(second.start, second.end)].map(endedLine)
    return spliced(yaml, first.start, second.end,
      second.end === yaml.length && !yaml.endsWith('\n') ? `${two}${one}`.slice(0, -1) : `${two}${one}`)
  }
  return rows.length > 1 ? spliced(yaml, row.start, row.end, '') : withField(yaml, list, [])
}

/** The first item of a list that is empty or not there. */
function withFirst (yaml: string, list: string, text: string): string {
  const marked = withField(yaml, list, [])
  const { node, pair, flow } = find(read(marked), keysOf(list))
  if (pair === undefined || node === undefined || flow !== node) throw new CannotEdit('there is no such list')
  const column = columnOf(marked, startOf(pair.key as Node)) + 2
  return spliced(marked, afterColon(marked, pair as Pair<Node, Node>), endOf(marked, node), `\n${indented(text, column).trimEnd()}`)
}

function withRow (yaml: string, rows: readonly Row[], index: number, text: string): string {
  const [row, last] = [rows[index], rows.at(-1)]
  if (last === undefined) throw new CannotEdit('there is no such list')
  const at = row?.start ?? last.end
  const isEnded = at === 0 || yaml[at - 1] === '\n'
  return spliced(yaml, at, at, `${isEnded ? '' : '\n'}${indented(text, last.column)}`)
}

/** The lines of an item of a list with the comments above it, and the column of its dash. */
type Row = { start: number, end: number, column: number }

function rowsOf (yaml: string, list: YAMLSeq): Row[] {
  const tokens = list.srcToken?.type === 'block-seq' ? list.srcToken.items : []
  const dashes = tokens.slice(0, list.items.length).map(({ start }) => start.find(({ type }) => type === 'seq-item-ind')?.offset ?? 0)
  const starts = dashes.map((dash, index) => {
    const item = index === 0 ? undefined : list.items[index - 1] as Node | null
    const floor = index === 0
      ? 0
      : endOfLine(yaml, item === null || item === undefined ? (dashes[index - 1] ?? 0) + 1 : endOf(yaml, item)) + 1
    return withComments(yaml, lineStart(yaml, dash), floor)
  })
  return starts.map((start, index) => {
    const item = list.items[index] as Node | null
    const own = endOfLine(yaml, item === null ? (dashes[index] ?? 0) + 1 : endOf(yaml, item)) + 1
    return { start, end: Math.min(starts[index + 1] ?? own, yaml.length), column: columnOf(yaml, dashes[index] ?? 0) }
  })
}

/** The start of the lines of comments right above a line. */
function withComments (yaml: string, start: number, floor: number): number {
  let at = start
  while (at > floor) {
    const above = lineStart(yaml, at - 1)
    if (above < floor || !/^\s*#/.test(yaml.slice(above, at))) break
    at = above
  }
  return at
}

/** What stands in braces is written anew as a whole, with the quotes that it had. */
function inBraces (yaml: string, document: Document, flow: Node, work: () => void): string {
  const [start, end] = [startOf(flow), endOf(yaml, flow)]
  work()
  const printed = new Document(null)
  // What stands behind it stays where it is.
  Object.assign(flow, { comment: null, commentBefore: null, spaceBefore: false })
  printed.contents = flow
  return spliced(yaml, start, end, printed.toString({ ...styled, verifyAliasOrder: false }).trimEnd())
}

function setIn (document: Document, keys: readonly string[], value: unknown): void {
  const old = document.getIn(keys, true)
  if (value === undefined) document.deleteIn(keys)
  else if (isScalar(old) && typeof value !== 'object') {
    old.value = value
    if (typeof value === 'string' && value.includes('\n')) old.type = Scalar.QUOTE_DOUBLE
    delete old.source
  } else document.setIn(keys, document.createNode(value, { flow: true }))
}

function change (document: Document, keys: readonly string[], edit: Exclude<TextEdit, { do: 'set' }> & { index: number }): void {
  const list = document.getIn(keys, true)
  if (edit.do === 'insert') {
    const item = document.createNode(itemOf(edit.text), { flow: true })
    if (isSeq(list)) list.items.splice(edit.index, 0, item)
    else document.setIn(keys, document.createNode([itemOf(edit.text)], { flow: true }))
    return
  }
  if (!isSeq(list)) throw new CannotEdit('there is no such list')
  const [item] = list.items.splice(edit.index, 1)
  if (edit.do === 'move') list.items.splice(edit.index + edit.by, 0, item)
}

function isBlockScalar ({ type }: Scalar): boolean {
  return type === Scalar.BLOCK_LITERAL || type === Scalar.BLOCK_FOLDED
}

function startOf (node: Node): number {
  return node.range?.[0] ?? 0
}

/** The end of what a node says, without the space and the lines behind it. */
function endOf (yaml: string, node: Node): number {
  return yaml.slice(0, node.range?.[1] ?? 0).trimEnd().length
}

function afterColon (yaml: string, { key }: Pair<Node, Node>): number {
  return yaml.indexOf(':', endOf(yaml, key)) + 1
}

const spliced = (text: string, start: number, end: number, by: string): string => text.slice(0, start) + by + text.slice(end)
const lineStart = (text: string, at: number): number => text.lastIndexOf('\n', at - 1) + 1
const columnOf = (text: string, at: number): number => at - lineStart(text, at)
const endedLine = (text: string): string => text.endsWith('\n') ? text : `${text}\n`
const indented = (text: string, column: number): string => endedLine(text.trimEnd()).replaceAll(/^(?=.)/gm, ' '.repeat(column))

function endOfLine (text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end === -1 ? text.length : end
}
