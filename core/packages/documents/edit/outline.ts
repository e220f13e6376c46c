import { createRecent, isRecord, type JsonObject, pointer } from '@dispatch/common'
import { type Document, isAlias, isCollection, isMap, isSeq, LineCounter, parseDocument } from 'yaml'
import { Block } from '../model/blocks.ts'
import { layoutParts, type PartialKind } from '../model/partial.ts'
import { keysOf } from './change.ts'
import { valueOf } from './edit-text.ts'

/**
 * A block of a template as its text has it. Without a kind it is something else than one block: an alias, two blocks in one, or what the
 * language does not know.
 */
export type OutlinedBlock = { path: string, kind?: string, value: unknown, lists: BlockList[] }

/** A list of blocks, which need not be there. */
export type BlockList = { path: string, blocks: OutlinedBlock[] }

/** What a text is of: a template, or something that templates share. */
export type TextKind = 'template' | PartialKind

/** The text of a template, or of what templates share, block by block. */
export type TemplateOutline = {
  kind: TextKind
  value: JsonObject
  lists: BlockList[]
  /** The innermost block at a line and column, from 1; '' for none. */
  blockAt: (line: number, column: number) => string
}

/** The parts of a text that are lists of blocks. */
const parts: Readonly<Record<TextKind, readonly string[]>> = {
  template: ['header', 'firstHeader', 'body', 'footer'],
  partial: ['blocks'],
  layout: layoutParts
}

/** The names of all kinds of blocks. */
export const blockKinds: readonly string[] = Block.$defs.Block.anyOf.map(({ required }) => required[0])

/** The blocks of the text of a template, or of what templates share; undefined where it is no YAML of one. */
export function outlineOf (yaml: string, kind: TextKind = 'template'): TemplateOutline | undefined {
  const key = `${kind} ${yaml}`
  const { outline } = known.get(key) ?? { outline: read(yaml, kind) }
  known.set(key, { outline })
  return outline
}

/** Those of the texts that were looked at last: each step of an editor looks at its text several times. Nobody changes what they have. */
const known = createRecent<string, { outline: TemplateOutline | undefined }>(8)

function read (yaml: string, kind: TextKind): TemplateOutline | undefined {
  const value = safely(() => valueOf(yaml))
  if (!isRecord(value)) return undefined
  const lines = new LineCounter()
  const document = parseDocument(yaml, { lineCounter: lines, uniqueKeys: false, logLevel: 'error' })
  const found: { path: string, start: number, end: number }[] = []
  const lists = parts[kind].map((part) => listAt({ document, value, found }, `/${part}`))
  return {
    kind,
    value: value as JsonObject,
    lists,
    blockAt (line, column) {
      const at = (lines.lineStarts[line - 1] ?? 0) + column - 1
      // Blocks stand behind those around them.
      return found.findLast(({ start, end }) => start <= at && at < end)?.path ?? ''
    }
  }
}

type Reading = { document: Document, value: unknown, found: { path: string, start: number, end: number }[] }

function listAt (reading: Reading, path: string): BlockList {
  const { document, value } = reading
  const list = safely(() => document.getIn(keysOf(path), true))
  if (!isSeq(list)) return { path, blocks: [] }
  const values: unknown = keysOf(path).reduce<unknown>((inner, key) => (inner as Record<string, unknown>)[key], value)
  return {
    path,
    blocks: list.items.map((node, index) => blockAt(reading, { node, path: pointer(path, index), value: (values as unknown[])[index] }))
  }
}

function blockAt (reading: Reading, { node, path, value }: { node: unknown, path: string, value: unknown }): OutlinedBlock {
  if (isCollection(node) && node.range != null) reading.found.push({ path, start: node.range[0], end: node.range[1] })
  const kinds = isMap(node) && isRecord(value) ? blockKinds.filter((kind) => Object.hasOwn(value, kind)) : []
  const [kind] = kinds
  if (kind === undefined || kinds.length > 1 || !isRecord(value) || isMap(node) && isAlias(node.get(kind, true))) {
    return { path, value, lists: [] }
  }
  return { path, kind, value, lists: listsIn(kind, value).map((inner) => listAt(reading, path + inner)) }
}

/** The lists of blocks in a block. */
function listsIn (kind: string, value: Readonly<Record<string, unknown>>): string[] {
  switch (kind) {
    case 'if':
      return ['/then', '/else']
    case 'each':
      return ['/do']
    case 'group':
      return ['/group']
    case 'address':
      return ['/address/beside']
    case 'columns': {
      const items = isRecord(value['columns']) ? value['columns']['items'] : undefined
      return Array.isArray(items) ? items.map((_, index) => `/columns/items/${index}/do`) : []
    }
    default:
      return []
  }
}

/** Undefined where a text is no YAML, or an alias of it leads nowhere. */
function safely<T> (read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
