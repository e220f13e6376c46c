import { isRecord, type Json, type JsonObject } from '@dispatch/common'
import type { Description } from './description.ts'
import { listIn, recordIn, shapeOf } from './schema.ts'

/** Where something stands in an answer: names of fields, and 0 for the first item of a list. */
export type Way = readonly (string | 0)[]

type Names = readonly RegExp[]

const ids: Names = [/^id$/, /^(sid|uuid|guid)$/, /(id|uuid)$/, /^reference$/]
const states: Names = [/^status$/, /^state$/, /status$/]
const codes: Names = [/^code$/, /^errorcode$/, /code$/, /^name$/, /^type$/, /^errorname$/, /^error$/]
const texts: Names = [/^message$/, /^errormessage$/, /^(detail|details)$/,
  /^(description|errordescription|errormsg|errortext|errorsummary)$/, /message$/]

/** How deep an answer is looked through, and at how many fields of it. */
const deepest = 4
const max = 10_000

export type Found = { way: Way, name: string, type: string | undefined }

/** The fields without fields of an answer. */
function leavesOf (description: Description, schema: Json | undefined): Found[] {
  return [...leavesBelow(description, schema, [], { left: max })]
}

function* leavesBelow (description: Description, schema: Json | undefined, way: Way, looked: { left: number }): Generator<Found> {
  const shape = shapeOf(description, schema)
  if (way.length > deepest) return
  const inner: (() => Generator<Found>)[] = []
  for (const { name, schema: field } of shape.fields) {
    if (looked.left-- <= 0) return
    const { type } = shapeOf(description, field)
    if (type === 'object' || type === 'array') inner.push(() => leavesBelow(description, field, [...way, name], looked))
    else yield { way: [...way, name], name: name.toLowerCase().replaceAll(/[^a-z0-9]/g, ''), type }
  }
  if (shape.type === 'array') inner.push(() => leavesBelow(description, shape.items, [...way, 0], looked))
  for (const next of inner) yield* next()
}

/** The first that has one of the names; what stands nearer to the root goes first, and then the more telling name. */
function pick (leaves: readonly Found[], names: Names, fits: (found: Found) => boolean = () => true): Found | undefined {
  const all = leaves.filter(fits).flatMap((found) => {
    const rank = /^(http)?statuscode$/.test(found.name) ? -1 : names.findIndex((name) => name.test(found.name))
    return rank < 0 ? [] : [{ found, rank, depth: found.way.length }]
  })
  return all.sort((a, b) => a.depth - b.depth || a.rank - b.rank)[0]?.found
}

/** Where the id and the status stand in the answer to a request that was accepted. */
export function acceptedOf (description: Description, operation: JsonObject): { id: Found | undefined, status: Found | undefined } {
  const leaves = leavesOf(description, answerSchema(description, operation, /^2\d\d$/))
  const id = pick(leaves, ids, ({ type }) => type !== 'boolean')
  return { id, status: pick(leaves, states, ({ type }) => type === 'string') }
}

/** Where the code and the words stand in the answer to a request that was refused. */
export function refusedOf (description: Description, operation: JsonObject): { at: string | undefined, message: string | undefined } {
  const leaves = leavesOf(description, answerSchema(description, operation, /^(4\d\d|4XX|default)$/))
  const message = pick(leaves, texts, ({ type }) => type === 'string' || type === undefined)
  const near = leaves.filter(({ way }) => message === undefined || way.slice(0, -1).join('/') === message.way.slice(0, -1).join('/'))
  const code = pick(near, codes, ({ way }) => way !== message?.way) ?? pick(leaves, codes, ({ way }) => way !== message?.way)
  return { at: code && pointer(code.way), message: message && pointer(message.way) }
}

/** An event of the vendor: the header with its signature, and where its word and the id of what it is about stand. */
export type DescribedEvent = { header: string, type: Found, remoteId: Found }

/** The first event whose signature is described (`webhooks` of OpenAPI 3.1). */
export function eventOf (description: Description): DescribedEvent | undefined {
  for (const value of Object.values(recordIn(description.root, 'webhooks'))) {
    const operation = recordIn(description.follow(value) as JsonObject, 'post')
    const parameters = listIn(operation, 'parameters').map((one) => description.follow(one)).filter((one): one is JsonObject =>
      isRecord(one)
    )
    const header = parameters.find(({ in: where, name }) => where === 'header' && typeof name === 'string' && /sign/i.test(name))?.['name']
    const content = recordIn(recordOf(description, operation['requestBody']), 'content')
    const json = Object.keys(content).find((name) => name.includes('json'))
    if (typeof header !== 'string' || json === undefined) continue
    const leaves = leavesOf(description, recordIn(content, json)['schema']).filter(({ way, type: kind }) =>
      !way.includes(0) && kind === 'string'
    )
    const type = pick(leaves, [/^(type|event|eventtype)$/, /^(status|state)$/])
    const inner = leaves.filter(({ way }) => way.length > 1)
    const remoteId = pick(inner, ids) ?? pick(leaves, ids)
    if (type !== undefined && remoteId !== undefined) return { header, type, remoteId }
  }
  return undefined
}

function pointer (way: Way): string {
  return way.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

function answerSchema (description: Description, operation: JsonObject, statuses: RegExp): Json | undefined {
  const responses = Object.entries(recordIn(operation, 'responses')).filter(([status]) => statuses.test(status)).sort(([a], [b]) =>
    a < b ? -1 : 1
  )
  for (const [, response] of responses) {
    const content = recordIn(recordOf(description, response), 'content')
    const [type] = Object.keys(content).filter((name) => name.includes('json'))
    if (type !== undefined) return recordIn(content, type)['schema']
  }
  return undefined
}

/** The object that is meant; empty where it is none. */
function recordOf (description: Description, value: Json | undefined): JsonObject {
  const found = description.follow(value)
  return isRecord(found) ? found : {}
}
