import { isRecord, type Validator } from '@dispatch/common'
import { chains } from '@dispatch/contract'
import { listProviderState } from '@dispatch/core'
import fc from 'fast-check'
import { sql } from 'kysely'
import t from 'tap'
import { chainBody } from '../support/chains.ts'
import { has } from '../support/matching.ts'
import { operationsOf, resolved, schemasOf } from '../support/openapi.ts'
import { type Answer, invoiceRequest, type Sending, startService } from '../support/service.ts'
import { hostileText, mutated } from './mutations.ts'
import { hasNoFault, longestError } from './support.ts'

const service = await startService(t)
const company = await service.company('fuzz', { credits: 1_000_000 })
const { body: api } = await service.send('GET', '/openapi.json')

type Operation = {
  method: string
  path: string
  seeds: fc.Arbitrary<unknown> | undefined
  query: { name: string, schema: Schema }[]
  named: readonly [name: string, example: string][]
  answers: ReadonlyMap<number, Validator<unknown> | undefined>
}
type Schema = Readonly<Record<string, any>>

const follow = (part: any): any => resolved(api, part)
const compiled = schemasOf(api)
/** A chain for the routes of the longer ones; its body is one for the shorter, too. */
const longest = ['invoicing', 'email', 'sms', 'upload'] as const

const operations: Operation[] = operationsOf(api).map(({ method, path, operation }) => {
  const parameters: Schema[] = operation.parameters
  const { default: others, ...responses } = operation.responses as Record<string, Schema>
  // What stands for several statuses names them: `unauthorized` (401).
  const told = [others, responses['4XX'], responses['5XX']].flatMap((answer) =>
    [...String(answer?.['description']).matchAll(/` \((\d{3})\)/g)].map(([, status]) => [status, answer] as const)
  )
  return {
    method,
    path,
    seeds: seedsOf(path, operation.requestBody?.content['application/json']),
    query: parameters.filter((parameter) => parameter['in'] === 'query') as Operation['query'],
    named: parameters.flatMap(({ in: place, name, example }: Schema) =>
      place === 'path' && example !== undefined ? [[name, example]] : []
    ) as Operation['named'],
    answers: new Map(
      [...told, ...Object.entries(responses).filter(([status]) => !status.endsWith('XX'))].map(
        ([status, answer]) => [Number(status), checkOf(answer?.['content']?.['application/json'])]
      )
    )
  }
})

/** Valid bodies: of a chain the least; else the documented examples, and what the schema allows. */
function seedsOf (path: string, content: Schema | undefined): fc.Arbitrary<unknown> | undefined {
  if (content === undefined) return undefined
  const chain = chains.find((services) => path.replace(/\/validate$/, '') === `/api/${services.join('/')}`) ??
    (path.startsWith('/api/{') ? longest : undefined)
  if (chain !== undefined) return fc.uuid().map((number) => numbered([chainBody(chain, invoiceRequest()['template']), number]))
  const { example, examples: several = example === undefined ? {} : { example: { value: example } } } = content
  const examples = Object.values<Schema>(several).map(({ value }) => value as unknown)
  const documented = fc.tuple(fc.constantFrom(...examples), fc.uuid()).map(numbered)
  // The service makes a single example of the schema where a route has none.
  return example === undefined ? documented : fc.oneof(documented, fitting(content['schema'], example))
}

/** The provider takes each number of an invoice once. */
function numbered ([example, number]: [any, string]): unknown {
  if (example.template === undefined) return example
  return { ...example, template: { ...example.template, data: { ...example.template.data, number } } }
}

/** Values that a schema allows. `example`: one of them, whose members stand for those of fields without examples of their own. */
function fitting (found: Schema, example?: unknown): fc.Arbitrary<unknown> {
  const schema: Schema = follow(found)
  const { allOf, anyOf, enum: values, type, pattern, properties, required = [], examples } = schema
  if (Array.isArray(examples)) return fc.constantFrom(...examples as unknown[])
  if (type === undefined && Array.isArray(allOf)) return fitting(allOf[0], example)
  if (Array.isArray(anyOf)) return fc.oneof(...anyOf.map((one) => fitting(one, example)))
  if (Array.isArray(values)) return fc.constantFrom(...values as unknown[])
  if (Array.isArray(type)) return fc.oneof(...type.map((one: unknown) => fitting({ ...schema, type: one }, example)))
  switch (type) {
    case 'object': {
      const fields = Object.entries<Schema>(properties ?? {}).map(([name, field]) => [name, member(field, name, example)] as const)
      return fc.record(Object.fromEntries(fields), { requiredKeys: required })
    }
    case 'array':
      return fc.array(fitting(schema['items'] ?? {}), { minLength: schema['minItems'] ?? 0, maxLength: 3 })
    case 'string':
      return typeof pattern === 'string'
        ? fc.stringMatching(new RegExp(pattern))
        : schema['format'] === 'uuid'
        ? fc.uuid()
        : schema['format'] === 'iso-8601'
        ? fc.constant('2026-03-14')
        : fc.string()
    case 'integer':
      return fc.integer({ min: schema['minimum'], max: schema['maximum'] })
    case 'boolean':
      return fc.boolean()
    default:
      return fc.constant(null)
  }
}

/** A field, which is mostly as in the example. */
function member (field: Schema, name: string, example: unknown): fc.Arbitrary<unknown> {
  if (!isRecord(example) || !Object.hasOwn(example, name)) return fitting(field)
  return fc.oneof({ weight: 3, arbitrary: fc.constant(example[name]) }, { weight: 1, arbitrary: fitting(field, example[name]) })
}

function checkOf (content: Schema | undefined): Validator<unknown> | undefined {
  if (content === undefined) return undefined
  return compiled(content['schema'])
}

const escaped = fc.oneof(hostileText.map((text) => encodeURIComponent(text.toWellFormed()).slice(0, 3000)),
  fc.constantFrom('%', '%00', '%ff', '%C0%AF', '%2e%2e%2f', '1', '2147483648'))

function pathsOf ({ path, named }: Operation): fc.Arbitrary<string> {
  const any = fc.oneof(escaped, fc.constantFrom('1', 'simulator', 'invoicing')).map((part) => path.replaceAll(/\{\w+\}/g, () => part))
  const real = named.reduce((text, [name, example]) => text.replace(`{${name}}`, example), path)
  return real.includes('{') ? any : fc.oneof({ weight: 1, arbitrary: any }, { weight: 4, arbitrary: fc.constant(real) })
}

function queriesOf ({ query }: Operation): fc.Arbitrary<string> {
  const parameters = query.map(({ name, schema }) =>
    fc.tuple(fc.constantFrom(name, `${name}[a]`), fc.oneof(fitting(schema).map((value) =>
      encodeURIComponent(typeof value === 'string' ? value.toWellFormed() : JSON.stringify(value))
    ), escaped))
  )
  const unknown = fc.tuple(escaped, escaped)
  return fc.array(fc.oneof(...parameters, unknown), { maxLength: 4 }).map((pairs) => pairs.map((pair) => pair.join('=')).join('&'))
}

function requestsOf (operation: Operation): fc.Arbitrary<{ url: string, sending: Sending }> {
  const bodies = operation.seeds === undefined ? fc.constant({}) : mutated(operation.seeds).map((body) => ({ body }))
  const headers = fc.record({
    'x-idempotency-key': fc.constantFrom('a', 'b', 'k'.repeat(255), 'k'.repeat(256)),
    'x-request-id': fc.constantFrom('ok', 'not ok')
  }, { requiredKeys: [] })
  return fc.tuple(pathsOf(operation), queriesOf(operation), bodies, headers).map(([path, query, body, given]) => ({
    url: query === '' ? path : `${path}?${query}`,
    sending: { ...body, headers: given }
  }))
}

/** What is wrong with an answer, if anything is. */
function faultOf ({ answers, path }: Operation, { status, headers, body }: Answer): string | undefined {
  if (status >= 500 && status !== 503 && status !== 504) return `${String(status)} ${JSON.stringify(body)}`
  // A path that names nothing is no longer this operation's.
  const isElsewhere = status === 404 && path.includes('{')
  if (!answers.has(status) && !isElsewhere) return `${String(status)} is not documented: ${JSON.stringify(body)}`
  const fit = answers.get(status)?.(body)
  if (fit?.ok === false) return `${String(status)} does not have the documented form: ${JSON.stringify(fit.problems)}`
  if (headers.get('x-request-id') === null) return 'There is no X-Request-ID.'
  if (status < 400) return undefined
  if (body.requestId !== headers.get('x-request-id')) return 'The body has another request id.'
  return JSON.stringify(body).length > longestError ? 'The answer is too long.' : undefined
}

const runsOf = ({ method, path, seeds }: Operation): number =>
  /^\/api\/invoicing(\/validate)?$/.test(path)
    ? 400
    : chains.some((chain) => path.startsWith(`/api/${chain.join('/')}`))
    ? 20
    : method === 'GET' && seeds === undefined && !/[{?]/.test(path)
    ? 30
    : 60

// A stream that is let in lasts for two minutes.
for (const operation of operations.filter(({ path }) => !/\/(dispatches\/changes|events\/stream)$/.test(path))) {
  const { method, path } = operation
  await t.test(`${method} ${path} answers anything as documented`, async (t) => {
    await fc.assert(fc.asyncProperty(requestsOf(operation), async ({ url, sending }) => {
      const fault = faultOf(operation, await service.send(method, url, sending, company.admin))
      if (fault !== undefined) throw new Error(fault)
    }), { numRuns: runsOf(operation), endOnFailure: true })
    t.pass()
  })
}

await t.test('after all of it every credit is accounted for, and nothing hangs', async (t) => {
  const { companyId } = company
  const { rows: [account] } = await sql<Record<string, number>>`
    select balance::int, held::int,
      (select sum(amount)::int from ledger where company_id = ${companyId}) as booked,
      (select coalesce(sum(held), 0)::int from steps where company_id = ${companyId}) as "heldBySteps",
      (select coalesce(sum(held), 0)::int from steps where company_id = ${companyId} and status = 'uncertain') as "heldInDoubt",
      (select count(*)::int from steps where company_id = ${companyId} and status = 'accepted' and price > 0) as accepted,
      (select count(*)::int from steps where company_id = ${companyId} and status in ('planned', 'calling')) as hanging,
      (select count(*)::int from dispatches where company_id = ${companyId} and status = 'running') as running,
      (select count(*)::int from ledger where company_id = ${companyId} and kind = 'debit') as debits
    from credits where company_id = ${companyId}`.execute(service.app.get('database').owner)
  t.ok(account !== undefined && account['accepted']! > 0, 'some of the requests were dispatched')
  has(t, account, {
    booked: account?.['balance'],
    held: account?.['heldInDoubt'],
    heldBySteps: account?.['heldInDoubt'],
    debits: account?.['accepted'],
    hanging: 0,
    running: 0
  })
  const sent = await listProviderState(service.app.get('database'), companyId, 'simulator', 'outbox:', 1_000_000)
  t.ok(sent.length >= account!['accepted']!, 'and what was paid for was sent')
  hasNoFault(t, service)
})
