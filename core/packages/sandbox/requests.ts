import { compile, type Validator } from '@dispatch/common'
import { Type } from 'typebox'
import { levels, methods, type OutsideCalls, type OutsideNotes, stateWords } from './protocol.ts'

/** What an adapter's process sends is nobody's type: each call is read before anything is done with it. */
const call = Type.Integer({ minimum: 0 })
const text = Type.Optional(Type.String())
const texts = Type.Optional(Type.Record(Type.String(), Type.String()))
const fields = Type.Optional(Type.Record(Type.String(), Type.Unknown()))
const id = Type.Integer({ minimum: 0, maximum: 10_000 })

const jwt = {
  algorithm: Type.Enum(['RS256', 'ES256', 'EdDSA', 'HS256']),
  key: Type.String(),
  keyId: text,
  issuer: text,
  subject: text,
  audience: text,
  lifetime: Type.Optional(Type.Number()),
  claims: fields
}

const Connected = Type.Object({ grant: Type.Literal('authorization_code'), scheme: text })
const CredentialGrant = Type.Object({
  tokenUrl: Type.String(),
  scheme: text,
  scope: text,
  audience: text,
  parameters: texts,
  grant: Type.Enum(['client_credentials', 'password', 'jwt_bearer']),
  clientId: text,
  clientSecret: text,
  clientAuth: Type.Optional(Type.Enum(['basic', 'body'])),
  username: text,
  password: text,
  assertion: Type.Optional(Type.Object({ ...jwt, issuer: Type.String(), audience: Type.String() }))
})

const Session = Type.Object({
  url: Type.String(),
  json: Type.Optional(Type.Unknown()),
  form: fields,
  basic: Type.Optional(Type.Array(Type.String(), { minItems: 2, maxItems: 2 })),
  headers: texts,
  signature: Type.Optional(Type.Object({ key: Type.String(), text: Type.String(), header: Type.String(), time: Type.String() })),
  token: Type.String(),
  lifetime: Type.Number({ exclusiveMinimum: 0 }),
  header: text,
  scheme: text
})

const OAuth2 = Type.Union([Connected, CredentialGrant])

const SigV4 = Type.Object({
  accessKeyId: Type.String(),
  secretAccessKey: Type.String(),
  sessionToken: text,
  region: Type.String(),
  service: Type.String()
})

const OAuth1 = Type.Object({
  consumerKey: Type.String(),
  consumerSecret: Type.String(),
  token: text,
  tokenSecret: text,
  realm: text,
  algorithm: Type.Optional(Type.Enum(['HMAC-SHA1', 'HMAC-SHA256']))
})

const request = {
  query: fields,
  headers: texts,
  basic: Type.Optional(Type.Array(Type.String(), { minItems: 2, maxItems: 2 })),
  bearer: text,
  apiKey: Type.Optional(Type.Object({ header: Type.String(), value: Type.String() })),
  jwt: Type.Optional(Type.Object(jwt)),
  oauth2: Type.Optional(OAuth2),
  session: Type.Optional(Session),
  sigv4: Type.Optional(SigV4),
  form: fields,
  xml: fields,
  text,
  multipart: fields,
  related: Type.Optional(Type.Array(Type.Unknown(), { maxItems: 1_000 })),
  document: Type.Optional(Type.Object({})),
  base64: Type.Optional(Type.Object({})),
  part: Type.Optional(Type.Object({ document: Type.Object({}), from: Type.Integer(), to: Type.Integer() })),
  oauth1: Type.Optional(OAuth1),
  arrays: Type.Optional(Type.Enum(['repeated', 'brackets', 'indexed'])),
  replyAs: Type.Optional(Type.Enum(['text', 'xml'])),
  replyHeaders: Type.Optional(Type.Array(Type.String(), { maxItems: 50 }))
}

const addresses = Type.Array(Type.String())
const Message = Type.Object({
  id: text,
  date: text,
  only: Type.Optional(addresses),
  from: Type.String(),
  to: addresses,
  cc: Type.Optional(addresses),
  bcc: Type.Optional(addresses),
  replyTo: Type.Optional(Type.Union([Type.String(), addresses])),
  subject: Type.String(),
  html: text,
  text,
  inline: Type.Optional(Type.Array(Type.Object({ contentId: Type.String() }))),
  attachments: Type.Optional(Type.Array(Type.Object({}))),
  headers: texts
})
const Transport = Type.Object({
  host: Type.String(),
  port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535 })),
  security: Type.Optional(Type.Enum(['starttls', 'tls'])),
  user: text,
  password: text,
  oauth2: Type.Optional(OAuth2),
  dkim: Type.Optional(Type.Object({ domain: Type.String(), selector: Type.String(), privateKey: Type.String() }))
})

/** The arguments of each call and note, as they must be. */
const schemas = {
  request: Type.Object({ call, request: call, method: Type.Enum([...methods]), url: Type.String(), fields: Type.Object(request) }),
  download: Type.Object({ call, url: Type.String(), fields: Type.Object({ ...request, filename: Type.String({ maxLength: 1000 }) }) }),
  send: Type.Object({ call, message: Message, transport: Transport }),
  verify: Type.Object({ call, transport: Transport }),
  compose: Type.Object({ call, message: Message }),
  digest: Type.Object({
    call,
    document: Type.Object({}),
    how: Type.Object({
      algorithm: Type.Enum(['md5', 'sha1', 'sha256', 'sha512']),
      encoding: Type.Optional(Type.Enum(['hex', 'base64'])),
      of: Type.Optional(Type.Enum(['bytes', 'base64']))
    })
  }),
  bytes: Type.Object({ call, document: Type.Object({}), from: Type.Integer(), to: Type.Integer() }),
  keep: Type.Object({
    call,
    base64: Type.String(),
    filename: Type.String({ maxLength: 1000 }),
    contentType: Type.String({ maxLength: 200 })
  }),
  put: Type.Object({ call, path: Type.String(), document: Type.Object({}) }),
  state: Type.Object({
    call,
    word: Type.Enum([...stateWords]),
    key: Type.String(),
    value: Type.Optional(Type.Unknown()),
    how: Type.Optional(Type.Object({ ttl: Type.Optional(Type.Number()) }))
  }),
  checkpoint: Type.Object({ call, id: Type.String() }),
  wait: Type.Object({ call, seconds: Type.Number({ minimum: 0 }) }),
  onRefusal: Type.Object({ call, id }),
  log: Type.Object({ call, level: Type.Enum([...levels]), facts: Type.Object({}), message: Type.String() })
}

/** The arguments of each call and note by its name. */
export type Requests = { [Name in keyof OutsideCalls]: Parameters<OutsideCalls[Name]>[0] } & OutsideNotes

const checks = Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, compile(schema)])) as unknown as {
  [Name in keyof Requests]: Validator<Requests[Name]>
}

/** The arguments of a call, or a TypeError that says what is wrong with them. */
export function readRequest<Name extends keyof Requests> (name: Name, args: unknown): Requests[Name] {
  const fit = checks[name](args)
  if (fit.ok) return fit.value
  const why = fit.problems.slice(0, 3).map(({ path, message }) => `${path} ${message}`.trim()).join(' ')
  throw new TypeError(`What was given to "${name}" cannot be read: ${why}`)
}
