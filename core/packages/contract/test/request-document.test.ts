import t from 'tap'
import type { TObject, TSchema } from 'typebox'
import { beginnings, chainBody } from '../../../../test/support/chains.ts'
import { has } from '../../../../test/support/matching.ts'
import type { Problem } from '../../common/json.ts'
import { compileJsonSchema } from '../../common/schema.ts'
import { type ServiceName, serviceNames } from '../../services/names.ts'
import { DispatchError } from '../errors.ts'
import { chains } from '../request/chains.ts'
import { documentedChain, documentedRequest } from '../request/request-document.ts'
import { createRequestReader } from '../request/request.ts'

const template = { id: 1, data: {} }
const email = { from: 'demo@example.com', to: ['ada@example.com'], subject: 'Your document' }
const { postal } = beginnings.postal as { postal: Body }
const alone: Partial<Record<ServiceName, Body>> = {
  ...Object.fromEntries(Object.entries(beginnings).map(([name, fields]) => [name, { template, ...fields }])),
  email: { ...email, body: 'Hello' },
  sms: { sms: { phoneNumber: '+33612345678', message: 'Hello' } }
}
const deferred = [
  { on: 'esign.completed', service: 'upload' },
  { on: 'esign.completed', service: 'email', ...email, template },
  { on: 'esign.viewed', service: 'sms', phoneNumber: '+33612345678', message: 'Seen' },
  { on: 'esign.declined', service: 'postal', ...postal }
]

type Body = Record<string, unknown>

/** Bodies that lack a part, have it elsewhere, or have too much: what each becomes at every place. */
function* variants (body: Body): Generator<Body> {
  for (const [name, value] of Object.entries(body)) {
    const rest = Object.fromEntries(Object.entries(body).filter(([other]) => other !== name))
    yield rest
    yield { ...body, [name]: 7 }
    for (const service of ['invoicing', 'esign', 'email'] as const) {
      yield { ...rest, [service]: { ...rest[service] as Body | undefined, [name]: value } }
    }
    if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) {
        for (const other of variants(item as Body)) yield { ...body, [name]: value.with(index, other) }
      }
    } else if (typeof value === 'object' && value !== null && name !== 'data') {
      for (const other of variants(value as Body)) yield { ...body, [name]: other }
    }
  }
  yield { ...body, fileContent: { templateName: 'Letter', data: {} } }
  yield { ...body, body: 'Hello' }
  yield { ...body, unknown: true }
}

const readBy = (read: (body: unknown) => unknown, body: unknown): boolean => {
  try {
    read(body)
    return true
  } catch (error) {
    return error instanceof DispatchError && error.details?.every(isStatable) === true
  }
}

/** Whether the data of a template might state what is missing: only its own schema knows. */
const isStatable = ({ code, message }: Problem): boolean => code === 'required' && message.includes('in the data of a template')

const paths = [
  ...serviceNames.filter((name) => name !== 'upload').map((name) => [name]),
  ...chains.filter(({ length }) => length === 2)
] as const

await t.test('what the documentation says of a body is what its reader reads: what must be there, in which of its ' +
  'places, and nothing else', (t) => {
  let [read, refused] = [0, 0]
  for (const path of paths) {
    const name = path.join('/')
    const [fits, reader] = [compileJsonSchema(documentedRequest(path)), createRequestReader(path)]
    const least: Body = path.length === 1 ? alone[path[0]] ?? {} : chainBody(path, template)
    const bodies = path.includes('esign') ? [least, { ...least, deferred }] : [least]
    for (const body of bodies) {
      t.same(fits(body), { ok: true, value: body }, name)
      t.ok(readBy(reader, body), name)
    }
    for (const body of bodies.flatMap((body) => [...variants(body)])) {
      const isRead = readBy(reader, body)
      if (isRead) read++
      else refused++
      if (fits(body).ok !== isRead) t.equal(fits(body).ok, isRead, `${name} ${JSON.stringify(body)}`)
    }
  }
  t.ok(read > 50 && refused > 500, `${read} read, ${refused} refused`)
  t.end()
})

await t.test('the body of longer chains is documented as wide as the widest', (t) => {
  const fits = compileJsonSchema(documentedChain())
  for (const path of chains.filter(({ length }) => length > 2)) {
    const body = chainBody(path, template)
    t.same(fits(body), { ok: true, value: body }, path.join('/'))
    t.ok(readBy(createRequestReader(path), body))
  }
  for (const body of [
    {},
    { template, fileContent: { templateName: 'Letter', data: {} } },
    { template, email: { to: email.to } },
    { template, unknown: 1 }
  ]) has(t, fits(body), { ok: false })
  t.end()
})

await t.test('the object of a service is named by where it stands: first, behind a file, or behind a provider', (t) => {
  const titleIn = (schema: TObject, service: ServiceName): unknown => {
    const own: TSchema & { title?: string } = schema.properties[service] ?? {}
    return own.title
  }
  t.equal(titleIn(documentedRequest(['email']), 'email'), 'PartialEmailFields')
  t.equal(titleIn(documentedRequest(['file', 'email']), 'email'), 'EmailAfterFile')
  t.equal(titleIn(documentedRequest(['invoicing', 'email']), 'email'), 'EmailStep')
  t.equal(titleIn(documentedChain(), 'email'), 'EmailStep')
  t.equal(titleIn(documentedChain(), 'invoicing'), 'PartialInvoicingFields')
  t.end()
})
