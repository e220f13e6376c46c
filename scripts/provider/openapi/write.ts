import { isRecord, type Json, type JsonObject } from '@dispatch/common'
import { isDeliveryService } from '@dispatch/contract'
import { documentValue, type ProvidedName, services } from '@dispatch/services'
import { nameOf } from '../readme.ts'
import { acceptedOf, type DescribedEvent, eventOf, refusedOf, type Way } from './answer.ts'
import type { Description } from './description.ts'
import { type BodyKind, chosenOf, type Operation } from './operation.ts'
import { indented, isSecret, literal, type Made, membersOf, type Notes, objectOf, settingOf } from './request.ts'
import { isList, listIn, recordIn, shapeOf, textIn } from './schema.ts'

/** What is written of a provider: its code, its fixture, and what a person must decide, in sentences. */
export type Written = { source: string, fixture: object, settings: readonly string[], undecided: readonly string[] }

type Wanted = { code: string, service: ProvidedName, operation: string | undefined }

/** Writes a provider for an operation of a description. Throws an Error with one sentence where none can be made of it. */
export function writeProvider (description: Description, { code, service, operation: named }: Wanted): Written {
  const { outline } = services[service]
  const operation = chosenOf(description, { service, operation: named, verbs: outline.verbs, means: outline.means })
  const notes: Notes = { settings: new Map(), undecided: [], mailbox: false }
  const address = addressOf(description, operation, notes)
  const headers = headersOf(description, operation, notes)
  const body = bodyOf(description, operation, { service, notes })
  const signIn = signInOf(description, operation, notes)
  const answer = answerOf(description, operation, notes)
  const errors = errorsOf(description, operation, notes)
  const event = isDeliveryService(service) ? eventOf(description) : undefined
  if (event !== undefined) decideEvent(notes, event)
  const key = headers.find(([, { code: text }]) => text === 'idempotencyKey')
  const call = objectOf([
    ...signIn === undefined ? [] : [[signIn.kind, { code: signIn.code, value: signIn.value }] as const],
    ...headers.length === 0 ? [] : [['headers', objectOf(headers)] as const],
    [body.kind, body]
  ])
  const fields = settingsOf(service, notes, signIn)
  const used = [
    ...call.code.includes('settings.') || address.code.includes('settings.') ? ['settings'] : [],
    'http',
    ...key === undefined ? [] : ['idempotencyKey'],
    ...answer.code.includes('reference') ? ['reference'] : []
  ]
  const asked = call.code.includes('request.') || address.code.includes('request.') ? 'request' : '_request'
  const { setting } = outline
  const imports = ['defineProvider', ...notes.mailbox ? ['mailboxOf'] : [],
    ...fields.some(({ code: of }) => of.startsWith('Secret')) ? ['Secret'] : [], ...setting === undefined ? [] : [setting.by], 'Type'].sort(
      (a, b) => a.toLowerCase() < b.toLowerCase() ? -1 : 1
    )
  const { method, path, name } = operation
  const source = `import { ${imports.join(', ')} } from '@dispatch/core/provider'

/** The read part of the vendor's answer to ${inComment(`${method.toUpperCase()} ${path} (${name})`)}. */
const Sent = ${answer.schema}
${
    event === undefined ? '' : `
/** The vendor's later event. */
const Event = ${schemaOf([event.remoteId, event.type])}
`
  }
export default defineProvider({
  code: '${code}',
  name: ${literal(titleOf(description, code))},
  docs: ${literal(docsOf(description, code))},
  hosts: [${literal(address.host)}],
  settings: Type.Object({
${fields.map(({ name: field, code: of }) => `    ${field}: ${of}`).join(',\n')}
  }),
  errors: { at: ${literal(errors.at)}, message: ${literal(errors.message)}, map: {} },
  services: {
    ${service}: {
${outline.capabilities.map((line) => `      ${line},\n`).join('')}      idempotency: ${
    key === undefined ? '{ kind: \'none\' }' : '{ kind: \'key\', ttl: 24 * 3600 }'
  },
      async dispatch (${asked}, { ${used.join(', ')} }) {
        const sent = await http.${method}(${address.code}, ${indented(call.code, '        ').trimStart()}, Sent)
${answer.code}
      }
    }
  }${event === undefined ? '' : webhooksOf(service, event)}
})
`
  const given = { ...Object.fromEntries(fields.map(({ name: field, value }) => [field, value])) }
  if (key !== undefined) notes.undecided.push('How long the vendor knows an idempotency key (`ttl`): a day is a guess.')
  return {
    source,
    fixture: {
      service,
      settings: given,
      request: outline.request,
      exchange: [{
        expect: {
          method: method.toUpperCase(),
          url: address.value,
          ...signIn !== undefined && expectedSignIn(signIn),
          ...headers.length > (key === undefined ? 0 : 1) &&
            { headers: Object.fromEntries(headers.filter((one) => one !== key).map(([header, { value }]) => [header, value])) },
          ...expectedBody(body.kind, body.value)
        },
        answer: { status: 200, json: answer.sample }
      }],
      result: { outcome: 'accepted', response: answer.response }
    },
    settings: fields.map(({ name: field }) => field),
    undecided: notes.undecided
  }
}

/** Events whose words a person must map to those of the service. */
function webhooksOf (service: ProvidedName, { header, type, remoteId }: DescribedEvent): string {
  return `,
  webhooks: {
    ${service}: {
      verify: { kind: 'hmac', header: ${literal(header)}, algorithm: 'sha256', encoding: 'hex', secret: 'webhookSecret' },
      body: Event,
      read: (event) => ({ remoteId: ${reading(remoteId.way, 'event')}, type: ${reading(type.way, 'event')} }),
      events: {}
    }
  }`
}

function decideEvent ({ settings, undecided }: Notes, { header }: DescribedEvent): void {
  settings.set('webhookSecret', { code: 'Secret({ title: \'Signing secret of the webhook\' })', value: password })
  undecided.push(
    `How \`${header}\` is made: an HMAC with SHA-256 of the body, in hexadecimal, is a guess (\`webhooks\` in the guide).`,
    'Which words of its events stand for which status (`events`), with an event that it has signed as `fixtures/webhook.signed.json`.'
  )
}

type Field = { name: string, code: string, value: Json }

function settingsOf (service: ProvidedName, { settings }: Notes, signIn: SignIn | undefined): Field[] {
  const { setting } = services[service].outline
  return [
    ...signIn?.fields ?? [],
    ...[...settings].map(([name, made]) => ({ name, ...made })),
    ...setting === undefined ? [] : [{ name: setting.name, code: `${setting.by}()`, value: [...setting.value] }]
  ]
}

/** The host and the path, with the variables of both. */
function addressOf (description: Description, { operation, shared, path }: Operation, notes: Notes): Made & { host: string } {
  const servers = [operation, shared, description.root].flatMap((place) =>
    listIn(place, 'servers').filter((one): one is JsonObject => isRecord(one))
  )
  const [server] = servers
  const base = textIn(server ?? {}, 'url').replaceAll(/\{([^}]*)\}/g, (_, name: string) => {
    const usual = textIn(recordIn(recordIn(server ?? {}, 'variables'), name), 'default')
    notes.undecided.push(`The address of the vendor has the variable \`${name}\`: ${usual === '' ? 'api' : usual} is taken for it.`)
    return usual === '' ? 'api' : usual
  })
  const url = URL.parse(base)
  if (url?.protocol !== 'https:' || url.username !== '') {
    throw new Error(`It names no server that begins with https://: ${JSON.stringify(base.slice(0, 100))}. Write its "servers" first.`)
  }
  const others = [...new Set(servers.map((one) => textIn(one, 'url')))].filter((one) => one !== server?.['url']).slice(0, 5)
  if (others.length > 0) {
    notes.undecided.push(`Which server is asked: ${base} is the first; there are ${others.join(', ')}.`)
  }
  const whole = `${url.origin}${url.pathname.replace(/\/$/, '')}${path}`.replaceAll(/[`\\\s"<>]/g, encodeURIComponent)
  const variables = [...whole.matchAll(/\{([^}]*)\}/g)].map(([, name = '']) => [name, settingOf(notes, name, { type: 'string' })] as const)
  const filled = (valueOf: (made: Made) => string): string =>
    variables.reduce((text, [name, made]) => text.replace(`{${name}}`, () => valueOf(made)), whole)
  return {
    host: url.host,
    code: variables.length === 0 ? literal(whole) : `\`${filled(({ code }) => `\${encodeURIComponent(${code})}`)}\``,
    value: filled(({ value }) => encodeURIComponent(textOf(value)))
  }
}

type SignIn = { kind: 'bearer' | 'basic' | 'apiKey', code: string, value: Json, fields: Field[] }

/** Visible placeholders that an integrator replaces. */
const [key, password] = ['fake_key_5f2b8c91d04e7a63', 'fake_secret_c81d4e2fa6b09357']

function signInOf (description: Description, { operation }: Operation, notes: Notes): SignIn | undefined {
  const asked = 'security' in operation ? listIn(operation, 'security') : listIn(description.root, 'security')
  const schemes = recordIn(recordIn(description.root, 'components'), 'securitySchemes')
  const names = asked.flatMap((one) => isRecord(one) ? Object.keys(one).slice(0, 1) : [])
  const [name = Object.keys(schemes)[0], ...others] = names
  const scheme = name === undefined ? {} : description.follow(recordIn(schemes, name)) as JsonObject
  if (others.length > 0) {
    notes.undecided.push(`How it signs in: by \`${String(name)}\`; ${others.map((one) => `\`${one}\``).join(', ')} may do too.`)
  }
  const secret = (field: string, title: string, value: string): Field => ({
    name: field,
    code: `Secret({ title: ${literal(title)} })`,
    value
  })
  const [type, way, where, header] = ['type', 'scheme', 'in', 'name'].map((field) => textIn(scheme, field))
  if (type === '' && [...notes.settings.keys()].some(isSecret)) return undefined
  const own = notes.settings.has('apiKey') ? 'accessKey' : 'apiKey'
  if (type === 'http' && way?.toLowerCase() === 'basic') {
    const fields = [{ name: 'user', code: 'Type.String({ title: \'User\' })', value: 'some-user' },
      secret('password', 'Password', password)]
    return { kind: 'basic', code: '[settings.user, settings.password]', value: ['some-user', password], fields }
  }
  if (type === 'apiKey' && where === 'header' && header !== undefined && !/^authorization$/i.test(header)) {
    const code = `{ header: ${literal(header)}, value: settings.${own} }`
    return { kind: 'apiKey', code, value: { header, value: key }, fields: [secret(own, 'API key', key)] }
  }
  if (type === 'http' && way?.toLowerCase() === 'bearer') {
    return { kind: 'bearer', code: `settings.${own}`, value: key, fields: [secret(own, 'API key', key)] }
  }
  notes.undecided.push(
    type === '' || type === undefined
      ? 'How it signs in: the description does not say, and a bearer token is a guess.'
      : `How it signs in: the description says ${type}${
        type === 'apiKey' ? ` in ${String(where)} \`${String(header)}\`` : ''
      }; a bearer token stands ` +
        'in its place (`connection`, `oauth2`, `sigv4` and others are in the guide).'
  )
  return { kind: 'bearer', code: `settings.${own}`, value: key, fields: [secret(own, 'API key', key)] }
}

function expectedSignIn ({ kind, value }: SignIn): object {
  if (kind !== 'apiKey') return { [kind]: value }
  const { header, value: text } = value as { header: string, value: string }
  return { headers: { [header.toLowerCase()]: text } }
}

/** Headers that the vendor demands, and its idempotency key. */
function headersOf (description: Description, { operation, shared }: Operation, notes: Notes): [string, Made][] {
  const parameters = [...listIn(shared, 'parameters'), ...listIn(operation, 'parameters')].map((one) => description.follow(one))
  return parameters.flatMap((parameter): [string, Made][] => {
    if (!isRecord(parameter) || parameter['in'] !== 'header' || typeof parameter['name'] !== 'string') return []
    const { name, required, schema } = parameter
    if (/idempot|request-id/i.test(name)) return [[name.toLowerCase(), { code: 'idempotencyKey', value: undefined }]]
    if (required !== true || /^(accept|content-type|authorization)$/i.test(name)) return []
    const { fixed, choices: [choice] } = shapeOf(description, schema)
    const text = fixed ?? choice
    return [[name.toLowerCase(),
      text === undefined ? settingOf(notes, name, { type: 'string' }) : { code: literal(textOf(text)), value: textOf(text) }]]
  })
}

function bodyOf (
  description: Description,
  { bodies }: Operation,
  { service, notes }: { service: ProvidedName, notes: Notes }
): Made & { kind: BodyKind } {
  const { body: usual, means } = services[service].outline
  const order: readonly BodyKind[] = usual === 'multipart'
    ? ['multipart', 'json', 'form', 'document']
    : ['json', 'form', 'multipart', 'document']
  const kind = order.find((one) => bodies.has(one)) ?? 'json'
  if (kind === 'document') return { kind, code: 'request.document', value: documentValue }
  const shape = bodies.get(kind) ?? shapeOf(description, undefined)
  const members = membersOf({ description, means, notes, depth: 0 }, shape)
  if (members.length === 0) notes.undecided.push('What the request has in it: no field of it has a name that is known here.')
  return { kind, ...objectOf(members.map(([name, made]) => [name, kind === 'multipart' ? partOf(made) : made])) }
}

/** A part of a multipart body: what is no text and no file is JSON. */
function partOf (made: Made): Made {
  const { code, value } = made
  return typeof value === 'object' && value !== null && !isDocuments(value)
    ? { code: `{ json: ${code} }`, value: { json: value } }
    : made
}

function isDocuments (value: object): boolean {
  return Array.isArray(value) && value.every((one) => one === documentValue)
}

function expectedBody (kind: BodyKind, value: Json | undefined): object {
  if (kind === 'document') return { document: documentValue }
  if (kind === 'form') return { form: Object.fromEntries(pairsOf(value ?? {})) }
  if (kind === 'json') return { json: value }
  const part = (one: Json): Json => one === documentValue ? { document: one } : typeof one === 'object' ? one : String(one)
  return {
    multipart: Object.fromEntries(
      Object.entries(value as JsonObject).map(([name, one]) => [name, isList(one) ? one.map(part) : part(one)])
    )
  }
}

/** A form as its pairs. */
function pairsOf (value: Json, at = ''): [string, string][] {
  if (typeof value !== 'object' || value === null) return [[at, String(value)]]
  return Object.entries(value).flatMap(([name, one]) => pairsOf(one, at === '' ? name : `${at}[${name}]`))
}

type Answer = { schema: string, code: string, sample: Json, response: Json }

function answerOf (description: Description, { operation }: Operation, notes: Notes): Answer {
  const { id, status } = acceptedOf(description, operation)
  if (id === undefined) {
    notes.undecided.push('Where the id of what was made stands: the answer has no field that looks like one, and our reference is taken.')
  }
  if (status === undefined) notes.undecided.push('What the vendor says of its status: it is always `sent` here.')
  const found = [id, status].filter((one) => one !== undefined)
  const lists = found.some(({ way }) => way.includes(0))
  const value = (one: typeof id, otherwise: string): string =>
    one === undefined ? otherwise : one.type === 'string' || one.type === undefined ? reading(one.way) : `String(${reading(one.way)})`
  const guard = id !== undefined && lists
    ? `        const id = ${reading(id.way)}\n        if (id === undefined) throw new TypeError('The answer has no id.')\n`
    : ''
  const reported = id === undefined
    ? 'id: reference'
    : guard === ''
    ? `id: ${value(id, '')}`
    : id.type === 'string' || id.type === undefined
    ? 'id'
    : 'id: String(id)'
  const states = status === undefined ? '\'sent\'' : lists ? `${reading(status.way)} ?? 'sent'` : value(status, '')
  const sampleId: Json = id?.type === 'integer' || id?.type === 'number' ? 1 : 'id_1'
  const sample = found.reduce<Json>((json, one) => placed(json, one.way, one === id ? sampleId : 'queued'), {})
  return {
    schema: schemaOf(found),
    code: `${guard}        return { ${reported}, status: ${states} }`,
    sample,
    response: { id: id === undefined ? '{{reference}}' : String(sampleId), status: status === undefined ? 'sent' : 'queued' }
  }
}

/** The code that reads a place in the answer. */
function reading (way: Way, from = 'sent'): string {
  return way.reduce<string>((code, part, index) => {
    const isAfterList = way[index - 1] === 0
    if (part === 0) return `${code}[0]`
    const isPlain = /^[A-Za-z_$][\w$]*$/.test(part)
    return `${code}${isAfterList ? '?.' : isPlain ? '.' : ''}${isPlain ? part : `[${literal(part)}]`}`
  }, from)
}

/** The schema of what is read. */
function schemaOf (found: readonly { way: Way, type: string | undefined }[]): string {
  const [first] = found
  if (first === undefined) return 'Type.Unsafe<unknown>({})'
  if (first.way.length === 0) {
    return first.type === 'integer' ? 'Type.Integer()' : first.type === 'number' ? 'Type.Number()' : 'Type.String()'
  }
  const below = Map.groupBy(found, ({ way }) => way[0])
  const inner = (part: string | 0 | undefined): string =>
    schemaOf((below.get(part) ?? []).map(({ way, type }) => ({ way: way.slice(1), type })))
  if (below.has(0)) return `Type.Array(${inner(0)})`
  return `Type.Object({ ${
    [...below.keys()].map((part) => `${/^[A-Za-z_$][\w$]*$/.test(String(part)) ? String(part) : literal(String(part))}: ${inner(part)}`)
      .join(', ')
  } })`
}

function placed (json: Json, [part, ...rest]: Way, value: Json): Json {
  if (part === undefined) return value
  if (part === 0) {
    const [first = {}] = isList(json) ? json : []
    return [placed(first, rest, value)]
  }
  const before = isRecord(json) ? json as JsonObject : {}
  return { ...before, [part]: placed(before[part] ?? {}, rest, value) }
}

function errorsOf (description: Description, { operation }: Operation, notes: Notes): { at: string, message: string } {
  const { at, message } = refusedOf(description, operation)
  if (at === undefined || message === undefined) {
    notes.undecided.push('Where the code and the words of a refusal stand: the description does not say all of it.')
  }
  notes.undecided.push('Which codes of the vendor mean more than a refusal (`errors.map`).')
  return { at: at ?? '/code', message: message ?? '/message' }
}

/** A text that ends no comment. */
function inComment (text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll('*/', '* /')
}

/** What is no object, as a text. */
function textOf (value: Json | undefined): string {
  return typeof value === 'object' || value === undefined ? '' : String(value)
}

function titleOf ({ root }: Description, code: string): string {
  const title = textIn(recordIn(root, 'info'), 'title').replaceAll(/\s+/g, ' ').replace(/\s*\(.*$/, '').replace(
    /\s*(rest )?api\b.*$/i,
    ''
  ).trim()
  return title.length > 0 && title.length <= 40 ? title : nameOf(code)
}

function docsOf ({ root }: Description, code: string): string {
  const address = textIn(recordIn(root, 'externalDocs'), 'url')
  return URL.parse(address)?.protocol === 'https:' ? address : `https://${code}.example.com/docs`
}
