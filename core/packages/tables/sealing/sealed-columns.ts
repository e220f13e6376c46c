import type { Json, JsonObject } from '@dispatch/common'
import { type DataKey, DerivedKeys, headLength, keyIdOf, tagLength } from '@dispatch/files'
import { type Kysely, type KyselyPlugin, type PluginTransformResultArgs, type QueryResult, type RawBuilder, sql,
  type UnknownRow } from 'kysely'

/** The keys under which data of companies are sealed. */
export type ColumnKeys = {
  /** The key under which a company seals now; undefined where nothing is sealed. */
  ofCompany: (companyId: number) => Promise<DataKey | undefined>
  /** Throws where the key cannot be read. Where there is no key, `isGone` of the error says whether it is lost for good. */
  findOf: (companyId: number, id: Uint8Array) => Promise<Uint8Array>
}

/** Bytes of what is sealed: the company, the head with the id of its key, what is encrypted, its tag. */
const companyLength = 4
const derivedKeys = new DerivedKeys('column')

/** What queries a plugin is found by. */
export type Queries = Pick<Kysely<unknown>, 'getExecutor'>

/**
 * The columns that may hold sealed values, by the names that they have in results: of these alone all that is written is sealed or escaped,
 * so that nobody's own text is taken for a sealed one.
 */
export const sealedColumns = ['data', 'fields', 'request_settings', 'made', 'exchanges', 'body', 'common', 'request'] as const

/** The member with what is sealed, and the one of a value of a client's own that has such a member. Both are ours alone. */
const [mark, escaped] = ['sealed:1', 'plain:1']
/** The member with what statements look into: it says nothing about a person. */
const shown = 'shown'
const [markedText, escapedText] = [`{"${mark}":`, `{"${escaped}":`]

/**
 * Values of companies that stand sealed in columns. What is written is sealed by {@link sealed} and {@link sealedText}; whatever query
 * reads it gets it opened, and rows from before as they are. A value of JSON that cannot be opened throws where somebody looks into it, so
 * that the rest of its row, and other rows, can still be read.
 */
export class SealedColumns implements KyselyPlugin {
  #keys: ColumnKeys | undefined

  /** Keys are found through the database, which is opened first. */
  use (keys: ColumnKeys): void {
    this.#keys = keys
  }

  transformQuery ({ node }: Parameters<KyselyPlugin['transformQuery']>[0]): ReturnType<KyselyPlugin['transformQuery']> {
    return node
  }

  async transformResult ({ result }: PluginTransformResultArgs): Promise<QueryResult<UnknownRow>> {
    const [first] = result.rows
    const present = first === undefined ? [] : sealedColumns.filter((column) => column in first)
    if (present.length === 0) return result
    for (const row of result.rows) {
      for (const column of present) {
        const value = row[column]
        if (isSealed(value)) row[column] = await this.#opened(value)
      }
    }
    return result
  }

  /** What a column holds, opened; undefined where its key is lost for good. */
  async open (value: string | JsonObject): Promise<Json | undefined> {
    try {
      return JSON.parse(JSON.stringify(await this.#opened(value))) as Json
    } catch (error) {
      if (isMissing(error) && error.isGone) return undefined
      throw error
    }
  }

  async seal (companyId: number, text: string): Promise<string | undefined> {
    const key = await this.#keys?.ofCompany(companyId)
    if (key === undefined) return undefined
    const company = Buffer.alloc(companyLength)
    company.writeUInt32BE(companyId)
    const { head, gcm } = derivedKeys.seal(key, company)
    const encrypted = gcm.update(text)
    gcm.final()
    return Buffer.concat([company, head, encrypted, gcm.getAuthTag()]).toString('base64')
  }

  async #opened (value: string | JsonObject): Promise<unknown> {
    const { [mark]: bytes, [escaped]: own, [shown]: _, ...beside } = (typeof value === 'string' ? JSON.parse(value) : value) as JsonObject
    if (typeof bytes !== 'string') return own
    const withBeside = (text: string): Json => ({ ...JSON.parse(text) as JsonObject, ...beside })
    const hasBeside = Object.keys(beside).length > 0
    if (typeof value === 'string') {
      const text = await this.#open(bytes)
      return hasBeside ? JSON.stringify(withBeside(text)) : text
    }
    try {
      const text = await this.#open(bytes)
      return hasBeside ? withBeside(text) : JSON.parse(text) as Json
    } catch (error) {
      return unopened(error)
    }
  }

  async #open (sealedBytes: string): Promise<string> {
    if (this.#keys === undefined) throw new Error('Data of a company are read before its key can be.')
    const bytes = Buffer.from(sealedBytes, 'base64')
    const [company, head] = [bytes.subarray(0, companyLength), bytes.subarray(companyLength, companyLength + headLength)]
    const secret = await this.#keys.findOf(company.readUInt32BE(), keyIdOf(head))
    const gcm = derivedKeys.open(secret, head, company).setAuthTag(bytes.subarray(-tagLength))
    return gcm.update(bytes.subarray(companyLength + headLength, -tagLength), undefined, 'utf8') + gcm.final('utf8')
  }
}

/** A JSON value of a company as its column has it. What statements look into, such as files that it names, stands beside what is sealed. */
export async function sealed<Value extends JsonObject | readonly unknown[]> (
  queries: Queries,
  companyId: number,
  value: Value
): Promise<Value | JsonObject> {
  const text = JSON.stringify(value)
  // An empty one says nothing.
  if (text.length <= 2) return value
  const bytes = await pluginOf(queries)?.seal(companyId, text)
  if (bytes === undefined) return mark in value || escaped in value ? { [escaped]: JSON.parse(text) as Json } : value
  const files = [...new Set(Array.from(text.matchAll(namedFile), ([, id = '']) => id))]
  return { [mark]: bytes, ...files.length > 0 && { [shown]: { files: files.map((fileId) => ({ fileId })) } } }
}

/** A text with JSON of a company as its column has it. */
export async function sealedText (queries: Queries, companyId: number, text: string): Promise<string> {
  const bytes = await pluginOf(queries)?.seal(companyId, text)
  if (bytes !== undefined) return JSON.stringify({ [mark]: bytes })
  return isSealed(text) ? JSON.stringify({ [escaped]: text }) : text
}

/**
 * The same of an event. Beside what is sealed stand what lists tell tests apart by, and the dispatch, for which an erasure looks.
 */
export async function sealedEvent (queries: Queries, companyId: number, text: string): Promise<string> {
  const bytes = await pluginOf(queries)?.seal(companyId, text)
  if (bytes === undefined) return text
  const { test = false, dispatchId = null } = (JSON.parse(text) as { data: JsonObject }).data
  return JSON.stringify({ [mark]: bytes, [shown]: { test, dispatchId } })
}

/** What an export has in place of a value whose key is lost. */
const lost = 'sealed under a data key that is lost'

/** A row in JSON with what its columns hold opened. What stands deeper is text of a client's own, whatever it looks like. */
export async function openRow<Row extends JsonObject> (queries: Queries, row: Row): Promise<Row> {
  const opened = await Promise.all(sealedIn(queries, row).map(async ({ column, open }) => [column, await open() ?? lost]))
  return { ...row, ...Object.fromEntries(opened) as JsonObject }
}

/** What stands sealed in the columns of a row in JSON, opened, with the column of each, but for that whose key is lost. */
export async function openedTexts (queries: Queries, row: JsonObject): Promise<{ column: string, text: string }[]> {
  const opened = await Promise.all(sealedIn(queries, row).map(async ({ column, open }) => ({ column, value: await open() })))
  return opened.flatMap(({ column, value }) =>
    value === undefined ? [] : [{ column, text: typeof value === 'string' ? value : JSON.stringify(value) }]
  )
}

/**
 * A text that a query reads under another name than that of its column, so that a lost key does not end the query, opened; undefined where
 * its key is lost.
 */
export async function openText (queries: Queries, stored: string): Promise<string | undefined> {
  const opened = isSealed(stored) ? await pluginOf(queries)?.open(stored) : stored
  return typeof opened === 'string' ? opened : undefined
}

function sealedIn (queries: Queries, row: JsonObject): { column: string, open: () => Promise<Json | undefined> }[] {
  const plugin = pluginOf(queries)
  if (plugin === undefined) return []
  return sealedColumns.flatMap((column) => {
    const value = row[column]
    return isSealed(value) ? [{ column, open: () => plugin.open(value) }] : []
  })
}

/** Whether something of a row in JSON, or of a text, may be sealed: a row has texts with JSON in it, too, whose quotes are escaped. */
export const mayHaveSealed = (row: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql<boolean>`coalesce(strpos(${row}::text, ${mark}) > 0, false)`

/** Whether the value of a column is neither sealed nor empty. */
export function isPlain (column: string, type: 'jsonb' | 'text'): RawBuilder<boolean> {
  const value = sql.ref(column)
  return type === 'jsonb'
    ? sql<boolean>`${value} not in ('{}', '[]', 'null') and not ${value} ?| ${[mark, escaped]}::text[]`
    : sql<boolean>`${value} <> '' and not starts_with(${value}, ${markedText}) and not starts_with(${value}, ${escapedText})`
}

function pluginOf (queries: Queries): SealedColumns | undefined {
  return queries.getExecutor().plugins.find((plugin) => plugin instanceof SealedColumns)
}

function isSealed (value: unknown): value is string | JsonObject {
  if (typeof value === 'string') return value.startsWith(markedText) || value.startsWith(escapedText)
  return typeof value === 'object' && value !== null && (mark in value || escaped in value)
}

const namedFile = /"fileId":"([0-9a-fA-F-]{36})"/g

function isMissing (error: unknown): error is Error & { isGone: boolean } {
  return error instanceof Error && 'isGone' in error && typeof error.isGone === 'boolean'
}

/** What stands in place of values whose keys are not there. */
const withoutKeys = new WeakSet()

/** Whether what a query has read of a JSON column cannot be looked into, because its key is not in its place. */
export function isWithoutKey (value: JsonObject | null): boolean {
  return value !== null && withoutKeys.has(value)
}

/** What stands in place of a value that cannot be opened: whoever looks into it is told why. */
function unopened (error: unknown): object {
  const reported = (): never => {
    throw error
  }
  // A promise asks what it resolves to whether that is a promise.
  const get = (_: object, name: string | symbol): undefined => name === 'then' ? undefined : reported()
  const value = new Proxy({}, { get, has: reported, ownKeys: reported, getOwnPropertyDescriptor: reported })
  if (isMissing(error)) withoutKeys.add(value)
  return value
}
