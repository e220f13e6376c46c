import { compileOutsideSchema, isRecord, type Json, type Problem } from '@dispatch/common'
import { AnyJson } from '@dispatch/contract'
import { type ErrorPlace, type ErrorReading, providerErrors, type Refusal } from '@dispatch/vendor-io/outcome'
import { Type } from 'typebox'
import { isMeant, schemaFaults } from './limits.ts'

const pointer = { pattern: '^/', description: 'a JSON pointer such as "/error/code"' }
/** One JSON pointer, or several. */
const Pointers = Type.Unsafe<string | string[]>({
  type: ['string', 'array'],
  ...pointer,
  minItems: 1,
  items: { type: 'string', ...pointer }
})

const inHeader = {
  required: ['header'],
  properties: { header: { type: 'string', pattern: '^[A-Za-z0-9-]+$', description: 'the name of a header' } },
  additionalProperties: false
}

/** One place of a code, or several. */
const Places = Type.Unsafe<ErrorPlace | ErrorPlace[]>({
  type: ['string', 'object', 'array'],
  ...pointer,
  ...inHeader,
  minItems: 1,
  items: { type: ['string', 'object'], ...pointer, ...inHeader }
})

/** `conflict`, where the vendor knows idempotency keys, leaves it open whether the first request is still running. */
const [firstOfServer, lastOfServer, conflict] = [500, 599, 409]

const Refusals = Type.Unsafe<Refusal[]>(Type.Array(Type.Object({
  status: Type.Optional(Type.Union([
    Type.Integer({ minimum: firstOfServer, maximum: lastOfServer }),
    Type.Literal(conflict)
  ], { description: `${firstOfServer} to ${lastOfServer}, or ${conflict}` })),
  when: Type.Record(Type.String({ pattern: '^(/[^/]+)+$' }), AnyJson, { minProperties: 1 })
}, { additionalProperties: false }), { minItems: 1, maxItems: 50 }))

/** The errors of a manifest. */
export const ErrorsSchema = Type.Unsafe<ErrorReading>(Type.Object({
  at: Type.Optional(Places),
  message: Type.Optional(Pointers),
  map: Type.Record(Type.String(), Type.Enum(Object.keys(providerErrors))),
  refusals: Type.Optional(Refusals)
}, { additionalProperties: false }))

/** A text that no vendor answers: a schema that takes it tells nothing. */
const anything = 'b6b3ce6c-6a3f-4a32-8cbd-3f0a6d5ef1a7'

/** Problems of refusals beyond their shape: what is no schema, and what any error body would fit. */
export function refusalFaults (refusals: readonly Refusal[]): Problem[] {
  return refusals.flatMap(({ when }, index) => {
    const path = `/errors/refusals/${index}/when`
    const faults = schemaFaults(when as Readonly<Record<string, Json>>, path)
    if (faults.length > 0) return faults
    if (Object.values(when).some((schema) => isRecord(schema) && !compileOutsideSchema(schema)(anything).ok)) return []
    return [{ path, code: 'proves_nothing', message: 'Name what the vendor says when it has done nothing: any text fits this.' }]
  })
}

/** Whether an answer proves that the vendor did nothing. */
export function provesRefusal (refusals: readonly Refusal[], status: number, body: Json): boolean {
  return isRecord(body) &&
    refusals.some(({ when, ...of }) => isOfStatus(of, status) && isMeant({ when: when as Record<string, Json> }, body))
}

function isOfStatus ({ status: declared }: Pick<Refusal, 'status'>, status: number): boolean {
  return declared === undefined ? status >= firstOfServer && status <= lastOfServer : status === declared
}
