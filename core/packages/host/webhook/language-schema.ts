import { compile, type Problem } from '@dispatch/common'
import { AnyJsonObject } from '@dispatch/contract'
import { type TProperties, type TSchema, Type } from 'typebox'
import { macs, signatures, tokenMacs, tokenSignatures, type Verifier } from './language.ts'

const closed = { additionalProperties: false }
const optional = Type.Optional
const Name = Type.String({ minLength: 1, maxLength: 200 })
/** A separator, a prefix or a constant. */
const Short = Type.String({ minLength: 1, maxLength: 200 })

export const Header = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9_-]{0,78}\\*?$',
  description: 'the name of a header such as "X-Signature", or "X-Signature-*" for several that are numbered'
})
export const Pointer = Type.String({ pattern: '^(/[^/]+)+$', description: 'a JSON pointer such as "/event/time"', maxLength: 300 })

const InHeader = Type.Object({
  header: Header,
  part: optional(Type.Union([
    Type.String({ minLength: 1, maxLength: 40 }),
    Type.Integer({ minimum: 0, maximum: 20 }),
    Type.Array(Type.String({ minLength: 1, maxLength: 40 }), { minItems: 1, maxItems: 10 })
  ], { description: 'the name of a part such as "t", several names, or its place, beginning with 0' })),
  separator: optional(Short)
}, closed)
const InQuery = Type.Object({ query: Name }, closed)
const InBody = Type.Object({ body: Pointer }, closed)

export const PlaceSchema = Type.Union([InHeader, InQuery, InBody], {
  description: 'a place: { header: "X-Signature", part?, separator? }, { query: "signature" } or { body: "/signature" }'
})

const Encoding = Type.Enum(['hex', 'base64', 'base64url'])

const words = ['body', 'time', 'method', 'address', 'address-without-query']
const plainParts: TSchema[] = [
  Type.Enum(words),
  Type.Object({ text: Short }, closed),
  Type.Object({ header: Header }, closed),
  InQuery,
  InBody,
  Type.Object({ setting: Name }, closed),
  Type.Object({
    named: Type.Union([Type.Literal('sorted'), Type.Array(Name, { minItems: 1, maxItems: 50, uniqueItems: true })]),
    separator: optional(Short)
  }, closed)
]
const help = `${words.map((word) => `"${word}"`).join(', ')}, or an object with one of "text" (a constant), "header", "query", "body" ` +
  '(a JSON pointer), "setting", "named"'
const PlainParts = Type.Array(Type.Union(plainParts, { description: help }), { minItems: 1, maxItems: 30 })
const Parts = Type.Array(
  Type.Union([
    ...plainParts,
    Type.Object({
      hash: Type.Enum(['sha256', 'sha512', 'sha1', 'md5', 'crc32']),
      of: PlainParts,
      encoding: optional(Type.Enum(['hex', 'base64', 'base64url', 'bytes', 'decimal']))
    }, closed)
  ], { description: `${help}, or { hash, of, encoding? }` }),
  { minItems: 1, maxItems: 30 }
)

/** Seconds. */
const Tolerance = Type.Number({ exclusiveMinimum: 0, maximum: 3600 })

const Url = Type.String({ pattern: '^https://', description: 'a URL that begins with https://' })
const SecretKey = Type.Object({ secret: Name, encoding: optional(Encoding), prefix: optional(Short) }, closed)
const PublicKey = Type.Union([
  Type.Object({ setting: Name }, closed),
  Type.Object({ fixed: Type.Union([Type.String({ minLength: 40, maxLength: 10_000 }), Type.Object({ keys: Type.Array(AnyJsonObject) })]) },
    closed),
  Type.Object({ url: Url }, closed),
  Type.Object({ certificate: PlaceSchema, hosts: Type.Array(Name, { minItems: 1, maxItems: 50, uniqueItems: true }) }, closed)
], { description: 'a public key: { setting }, { fixed }, { url } or { certificate, hosts }' })

/** The algorithm decides which key is needed. */
function keyed (kind: string, bySecret: readonly string[], byKey: readonly string[], fields: TProperties): TSchema {
  const all = { kind: Type.Literal(kind), algorithm: Type.Enum([...bySecret, ...byKey]), ...fields }
  return Type.Unsafe({
    ...Type.Object({ ...all, key: Type.Unknown() }, closed),
    if: { properties: { algorithm: { enum: bySecret } } },
    then: { properties: { key: SecretKey } },
    else: { properties: { key: PublicKey } }
  })
}

const timed = Type.Object({
  at: PlaceSchema,
  unit: optional(Type.Enum(['seconds', 'milliseconds', 'iso'])),
  tolerance: optional(Tolerance)
}, closed)

export const verifierSchemas: Record<Verifier['kind'], TSchema> = {
  signature: keyed('signature', macs, signatures, {
    signed: Parts,
    at: PlaceSchema,
    encoding: Encoding,
    prefix: optional(Short),
    time: optional(timed),
    sandbox: optional(Type.Boolean())
  }),
  token: keyed('token', tokenMacs, tokenSignatures, {
    at: optional(
      Type.Union([Type.Literal('body'), InHeader, InQuery, InBody], { description: '"body", or a place such as { header: "X-Token" }' })
    ),
    claims: optional(Type.Record(Name, Parts)),
    times: optional(Type.Array(Type.Enum(['iat', 'nbf', 'exp']), { uniqueItems: true })),
    tolerance: optional(Tolerance),
    sandbox: optional(Type.Boolean())
  }),
  secret: Type.Object({ kind: Type.Literal('secret'), at: PlaceSchema, prefix: optional(Short), secret: Name }, closed),
  hint: Type.Object({ kind: Type.Literal('hint') }, closed),
  jws: Type.Object({
    kind: Type.Literal('jws'),
    header: Header,
    algorithm: Type.Literal('PS256'),
    jwks: Type.Union([Type.String({ pattern: '^https://' }), Type.Object({ keys: Type.Array(AnyJsonObject) })]),
    sandbox: optional(Type.Boolean())
  }, closed),
  basic: Type.Object({ kind: Type.Literal('basic'), user: optional(Name), password: optional(Name) }, closed),
  hmac: Type.Object({
    kind: Type.Literal('hmac'),
    header: Header,
    algorithm: Type.Literal('sha256'),
    encoding: Type.Enum(['hex', 'base64']),
    prefix: optional(Type.String({ minLength: 1, maxLength: 40 })),
    secret: Name,
    timestamp: optional(Type.Object({
      header: Header,
      unit: optional(Type.Enum(['seconds', 'milliseconds'])),
      tolerance: optional(Tolerance)
    }, closed))
  }, closed),
  jwt: Type.Object({
    kind: Type.Literal('jwt'),
    header: optional(Header),
    algorithm: Type.Literal('HS256'),
    secret: Name,
    claim: optional(Type.String({ minLength: 1, maxLength: 80 })),
    encoding: optional(Type.Enum(['hex', 'base64'])),
    issuer: optional(Type.String({ minLength: 1 })),
    tolerance: optional(Tolerance)
  }, closed),
  standard: Type.Object({
    kind: Type.Literal('standard'),
    prefix: optional(Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9-]{0,39}$' })),
    secret: Name,
    tolerance: optional(Tolerance)
  }, closed),
  stamped: Type.Object({ kind: Type.Literal('stamped'), header: Header, secret: Name, tolerance: optional(Tolerance) }, closed)
}

/** Compiled with the first verifier of the kind: all of them are half of what the schema of a manifest would compile to. */
const fits = new Map(Object.entries(verifierSchemas).map(([kind, schema]) => [kind, compile(schema)]))

/** What of a verifier of a known kind does not have the form of the kind. */
export function formProblems (verifier: Pick<Verifier, 'kind'>, path: string): Problem[] {
  const fit = fits.get(verifier.kind)?.(verifier, path)
  return fit?.ok === false ? fit.problems : []
}

const VerifierSchema = { type: 'object', required: ['kind'], properties: { kind: { enum: Object.keys(verifierSchemas) } } }

/** One verifier, or several, each of a known kind. The form of the kind is checked by {@link formProblems}. */
export const VerifiersSchema = Type.Unsafe<Verifier | readonly Verifier[]>({
  if: { type: 'array' },
  then: { type: 'array', minItems: 1, maxItems: 10, items: VerifierSchema },
  else: VerifierSchema
})
