import { outcomeUnknown, refused, unavailable } from '@dispatch/core/provider'
import { type RawBuilder, sql } from 'kysely'
import t from 'tap'
import { readStatus } from '../../core/packages/einvoice/index.ts'
import { followSaying } from '../../core/pipeline/recover/sayings.ts'
import { acquireLease } from '../../core/store/dispatch/runs.ts'
import { isError } from '../hostile/support.ts'
import { contains, has } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { readingOf } from '../support/reading.ts'
import { type Answer, invoiceRequest, type Login, startService } from '../support/service.ts'
import { accepts, testProviders, type Verb } from './support/providers.ts'

/** What the platform makes of the next messages and questions; `reported` are those that it was told. */
const platform: { say: Verb[], lookup: Verb[], reported: { reference: string, said: any }[], requested: string[] } = {
  say: [],
  lookup: [],
  reported: [],
  requested: []
}
const takes: Verb = (_said, { reference }) => Promise.resolve({ id: `flow-${reference}`, status: 'Pending' })
const fails = (error: Error): Verb => () => Promise.reject(error)
const lost = fails(outcomeUnknown('The line is dead.'))

const providers = await testProviders(t)
const declared = `documentTypes: ['INVOICE', 'E_INVOICE'], idempotency: { kind: 'lookup', visibleAfter: 0 },
  statuses: { going: 'received', waits: 'suspended', no: 'rejected' }`
const status: Verb = () => Promise.resolve({ status: 'going' })
const lookup: Verb = (query: { reference: string }, call) => {
  platform.requested.push(query.reference)
  return (platform.lookup.shift() ?? (() => Promise.resolve({ found: 'absent' })))(query, call)
}
await providers.add('platform', { service: declared }, accepts, {
  status,
  lookup,
  say (said, call) {
    platform.reported.push({ reference: call.reference, said })
    return (platform.say.shift() ?? takes)(said, call)
  }
})
await providers.add('mute', { service: declared }, accepts, { status, lookup })
const service = await startService(t, {
  config: { providerDirectories: providers.directories, runsWorker: false },
  replacements: { renderer: quickRenderer }
})
const { app, send } = service
const { dispatch: read, events, callbacks } = readingOf(service)
const database = app.get('database')
for (const code of ['platform', 'mute']) await send('PUT', `/api/v1/company/providers/${code}`, { body: { settings: {} } })

const french = {
  date: '2026-03-14',
  dueDate: '2026-04-13',
  currency: 'EUR',
  buyerReference: 'B-1',
  customer: { name: 'Ada Ltd', address: 'Calle 2', city: 'Madrid', postalCode: '28001', country: 'ES', vatId: 'ESX1234567X' },
  seller: { name: 'Acme Tea', address: '1 rue A', city: 'Lyon', postalCode: '69001', country: 'FR', vatId: 'FR39732829320' },
  lines: [{ description: 'Tea', quantity: 2, unitPrice: '10.00', taxRate: 20 }]
}
const newest = { 'x-api-version': '1.1.0' }
let numbers = 0
async function invoiced (providerName = 'platform', documentType = 'E_INVOICE', login?: Login): Promise<string> {
  const number = `F-${String(++numbers)}`
  const body = documentType === 'E_INVOICE'
    ? {
      providerName,
      documentType,
      template: { id: 4, data: { ...french, number } },
      callbackUrl: 'https://client.example/done'
    }
    : invoiceRequest({ number }, { providerName })
  const answer = await send('POST', '/api/invoicing', { body, headers: newest }, login)
  t.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body.dispatchId as string
}
const say = (id: string, body: object, login?: Login): Promise<Answer> =>
  send('POST', `/api/v1/dispatches/${id}/statuses`, { body, headers: newest }, login)
const said = async (id: string): Promise<any> => (await send('GET', `/api/v1/dispatches/${id}/statuses`, { headers: newest })).body
const kinds = async (id: string): Promise<string[]> =>
  (await send('GET', `/api/v1/dispatches/${id}/events?limit=100`)).body.data.map(({ kind }: { kind: string }) => kind).filter(
    (kind: string) => /say|said/.test(kind)
  )
const becomes = (id: string, delivery: string): Promise<unknown> =>
  sql`update steps set delivery_status = ${delivery} where dispatch_id = ${id}`.execute(database.owner)
/** The timeline is only added to, but for a test in which time passes or a process ends. */
const rewrite = (change: RawBuilder<unknown>): Promise<unknown> =>
  database.owner.transaction().execute(async (queries) => {
    await sql`set local session_replication_role = replica`.execute(queries)
    await change.execute(queries)
  })
const paid = { code: '212', at: '2026-10-02T10:00:00+02:00', amounts: [{ rate: '20', amount: '24.00' }], reason: 'By card' }

await t.test('that an invoice is paid is said once: the platform, the delivery status, the timeline and callbacks have it', async (t) => {
  const id = await invoiced()
  t.strictSame(await said(id), { data: [], sayable: ['212'] })
  const answer = await say(id, paid)
  t.equal(answer.status, 200, JSON.stringify(answer.body))
  const { statusId, askedAt, ...view } = answer.body
  t.strictSame(view, { ...paid, at: '2026-10-02T08:00:00.000Z', name: 'Encaissée', state: 'said' })
  has(t, await say(id, { ...paid, amounts: paid.amounts.map(({ rate, amount }) => ({ amount, rate })) }), {
    status: 200,
    body: { statusId, askedAt }
  })
  t.equal(platform.reported.length, 1, 'the same said again is not sent again')
  const [{ reference, said: { id: remoteId, code, status, message } }] = platform.reported as [{ reference: string, said: any }]
  t.strictSame([reference, code], [statusId, '212'])
  contains(t, remoteId, /^accepted-/)
  t.strictSame(readStatus(Buffer.from(message as string)), [status], 'the message says the same')
  has(t, status, {
    id: statusId,
    invoice: { number: 'F-1', seller: { id: '732829320' } },
    details: [{ amounts: [{ kind: 'MEN', rate: '20' }] }]
  })
  t.equal((await read(id)).steps[0].deliveryStatus, 'paid')
  t.strictSame(await kinds(id), ['saying', 'said'])
  has(t, await events(id, 'said'), [{ actor: { kind: 'provider', code: 'platform' }, facts: { statusId, status: 'paid', changed: true } }])
  t.strictSame((await callbacks(id)).filter((type) => type.startsWith('invoicing')), ['invoicing.paid'])

  // Another part of the payment names its time.
  has(t, await say(id, { ...paid, at: '2026-10-03T10:00:00Z' }), { status: 200 })
  t.strictSame([platform.reported.length, (await said(id)).data.length], [2, 2])
})

await t.test('a part of a payment makes it partly paid, until what is due has come in', async (t) => {
  const parts: [amounts: { rate: string, amount: string }[] | undefined, delivery: string | null][][] = [
    [[[{ rate: '20', amount: '10.00' }], 'partly_paid'], [[{ rate: '20', amount: '13.99' }], 'partly_paid'], [[{
      rate: '20',
      amount: '0.01'
    }], 'paid']],
    [[[{ rate: '20', amount: '10.00' }], 'partly_paid'], [undefined, 'paid']],
    [[[{ rate: '20', amount: '-5.00' }], null], [[{ rate: '20', amount: '5.00' }], null], [[{ rate: '20', amount: '24.01' }], 'paid']]
  ]
  for (const payments of parts) {
    const id = await invoiced()
    for (const [index, [amounts, delivery]] of payments.entries()) {
      has(t, await say(id, { code: '212', at: `2026-10-0${String(index + 1)}T10:00:00Z`, ...(amounts && { amounts }) }), { status: 200 })
      const { deliveryStatus } = (await read(id)).steps[0]
      t.equal(deliveryStatus, delivery, JSON.stringify(payments.slice(0, index + 1)))
      const { rows: [step] } = await sql<{ settled: boolean }>`select delivery_settled as settled from steps where dispatch_id = ${id}`
        .execute(database.owner)
      t.equal(step?.settled, delivery === 'paid', 'it is polled until all is paid')
    }
    t.strictSame((await callbacks(id)).filter((type) => type.startsWith('invoicing')), [...new Set(payments.map(([, to]) => to))].filter(
      (to) => to !== null
    ).map((to) => `invoicing.${to}`))
  }
})

await t.test('what was said of an erased dispatch is not told', async (t) => {
  const id = await invoiced()
  await say(id, paid)
  await rewrite(sql`update events set facts = '{}' where dispatch_id = ${id}`)
  has(t, await send('GET', `/api/v1/dispatches/${id}/statuses`, { headers: newest }), { status: 200, body: { data: [] } })
})

const doubt = /Saying the same once more finds out what became of it, and says it at most once\.$/
const found: Verb = () => Promise.resolve({ found: 'accepted', response: { id: 'flow-1', status: 'Ok' } })
const refusal: Verb = () => Promise.resolve({ found: 'rejected', code: 'InvoiceLCRuleError', message: 'It breaks a rule.' })
/** What the platform does each time that the same is said, and what the client and the timeline are told. `later`: seconds pass. */
const conduct: Record<string, {
  times: { say?: Verb[], lookup?: Verb[], later?: number }[]
  reported: { status: number, error?: string, message?: RegExp }
  ends: string[]
  sent: number
}> = {
  'refuses': {
    times: [{ say: [fails(refused('InvoiceLCAmountError', 'The amounts are others.'))] }],
    reported: { status: 409, error: 'conflict', message: /^The provider does not take it: The amounts are others\.$/ },
    ends: ['saying', 'not_said'],
    sent: 1
  },
  'refuses, and takes it later': {
    times: [{ say: [fails(refused('no', 'No.'))] }, {}],
    reported: { status: 200 },
    ends: ['saying', 'not_said', 'saying', 'said'],
    sent: 2
  },
  'is closed': {
    times: [{ say: [fails(unavailable('Later.'))] }],
    reported: { status: 503, error: 'provider_unavailable' },
    ends: ['saying', 'not_said'],
    sent: 1
  },
  'was cut off': {
    times: [{ say: [lost] }],
    reported: { status: 504, error: 'outcome_unknown', message: doubt },
    ends: ['saying', 'say_unknown'],
    sent: 1
  },
  'was cut off, and has it': {
    times: [{ say: [lost] }, { lookup: [found] }],
    reported: { status: 200 },
    ends: ['saying', 'say_unknown', 'said'],
    sent: 1
  },
  'was cut off, and has refused it': {
    times: [{ say: [lost] }, { lookup: [refusal] }],
    reported: { status: 409, error: 'conflict', message: /^The provider does not take it: It breaks a rule\.$/ },
    ends: ['saying', 'say_unknown', 'not_said'],
    sent: 1
  },
  'was cut off, and may still get it': {
    times: [{ say: [lost] }, {}],
    reported: { status: 504, error: 'outcome_unknown', message: /has not got it yet.*finds out/ },
    ends: ['saying', 'say_unknown'],
    sent: 1
  },
  'was cut off, and cannot be asked': {
    times: [{ say: [lost] }, { lookup: [fails(unavailable('Later.'))], later: 3600 }],
    reported: { status: 504, error: 'outcome_unknown', message: doubt },
    ends: ['saying', 'say_unknown'],
    sent: 1
  },
  'was cut off, and has surely not got it': {
    times: [{ say: [lost] }, { later: 61 }],
    reported: { status: 200 },
    ends: ['saying', 'say_unknown', 'saying', 'said'],
    sent: 2
  },
  'answers what cannot be read': {
    times: [{ say: [() => Promise.resolve('yes')] }],
    reported: { status: 503, error: 'provider_unavailable' },
    ends: ['saying', 'not_said'],
    sent: 1
  }
}
for (const [what, { times, reported: { status, error, message }, ends, sent }] of Object.entries(conduct)) {
  await t.test(`a platform that ${what}`, async (t) => {
    const id = await invoiced()
    Object.assign(platform, { reported: [] })
    let answer: Answer | undefined
    for (const { say: conduct = [], lookup = [], later = 0 } of times) {
      Object.assign(platform, { say: [...conduct], lookup: [...lookup] })
      if (later > 0) await rewrite(sql`update events set at = at - make_interval(secs => ${later}) where dispatch_id = ${id}`)
      answer = await say(id, paid)
    }
    t.equal(answer?.status, status, JSON.stringify(answer?.body))
    t.equal(answer?.body.error, error)
    if (message !== undefined) contains(t, answer?.body.message, message)
    t.strictSame(await kinds(id), ends)
    t.strictSame([platform.reported.length, new Set(platform.reported.map(({ reference }) => reference)).size], [sent, 1],
      'under one reference')
    t.equal((await read(id)).steps[0].deliveryStatus === 'paid', status === 200)
  })
}

await t.test('what a process has left behind is looked for before it is said again', async (t) => {
  const id = await invoiced()
  Object.assign(platform, { say: [lost], reported: [], lookup: [found] })
  await say(id, paid)
  // As where the process has ended after the call.
  await rewrite(sql`delete from events where dispatch_id = ${id} and kind = 'say_unknown'`)
  t.strictSame([await kinds(id), (await said(id)).data[0].state], [['saying'], 'asked'])
  has(t, await say(id, paid), { status: 200, body: { state: 'said' } })
  t.equal(platform.reported.length, 1)
})

await t.test('a process that ends, and a platform that changes its mind: it is asked later what became of it', async (t) => {
  const cases: [what: string, after: Verb, later: Verb[], ends: string[], state: string][] = [
    ['it has it', lost, [found], ['saying', 'say_unknown', 'said'], 'said'],
    ['it has refused it', lost, [refusal], ['saying', 'say_unknown', 'not_said'], 'refused'],
    ['it took it, and refuses it', takes, [found, refusal], ['saying', 'said', 'not_said'], 'refused'],
    ['it cannot be asked', takes, [fails(unavailable('Later.'))], ['saying', 'said'], 'said']
  ]
  for (const [what, first, later, ends, state] of cases) {
    const id = await invoiced()
    Object.assign(platform, { say: [first], lookup: [...later] })
    await say(id, paid)
    const looks = async (): Promise<any[]> =>
      (await sql<any>`select data, start_after > now() as waits from queue.job where name = 'saying' and data->>'dispatchId' = ${id}
        order by (data->>'look')::int`.execute(database.owner)).rows
    for (let look = 0; look < later.length; look++) {
      const waiting = await looks()
      t.strictSame([waiting.length, waiting.at(-1).waits], [look + 1, true], `${what}: ${String(look)}`)
      await followSaying(app.get('pipelineParts'), waiting.at(-1).data)
    }
    t.strictSame([await kinds(id), (await said(id)).data[0].state], [ends, state], what)
  }
})

await t.test('what the platform takes, and refuses later, is taken back, and the company is told', async (t) => {
  const part = (day: number, amount: string): object => ({
    code: '212',
    at: `2026-10-0${String(day)}T10:00:00Z`,
    amounts: [{ rate: '20', amount }]
  })
  const cases: {
    what: string
    before: string | null
    parts: string[]
    ends: [string, string | null]
    reported: string[]
    meanwhile?: string
  }[] = [
    {
      what: 'all',
      before: 'made_available',
      parts: ['24.00'],
      ends: ['made_available', 'It breaks a rule.'],
      reported: ['paid', 'made_available']
    },
    {
      what: 'all of one that nothing was known of',
      before: null,
      parts: ['24.00'],
      ends: ['received', 'It breaks a rule.'],
      reported: ['paid', 'received']
    },
    {
      what: 'the last part',
      before: 'open',
      parts: ['10.00', '14.00'],
      ends: ['partly_paid', 'It breaks a rule.'],
      reported: ['partly_paid', 'paid', 'partly_paid']
    },
    {
      what: 'a part that was not needed',
      before: 'open',
      parts: ['24.00', '24.00'],
      ends: ['paid', 'It breaks a rule.'],
      reported: ['paid', 'paid']
    }
  ]
  for (const { what, before, parts, ends, reported } of cases) {
    const id = await invoiced()
    if (before !== null) await becomes(id, before)
    for (const [index, amount] of parts.entries()) has(t, await say(id, part(index + 1, amount)), { status: 200 }, what)
    const statusId = (await said(id)).data.at(-1).statusId as string
    const { company_id: companyId } = await database.owner.selectFrom('dispatches').select('company_id').where('dispatch_id', '=', id)
      .executeTakeFirstOrThrow()
    Object.assign(platform, { lookup: [refusal] })
    await followSaying(app.get('pipelineParts'), { companyId, dispatchId: id, statusId, look: 0 })
    const { deliveryStatus, deliveryReason } = (await read(id)).steps[0]
    t.strictSame([deliveryStatus, deliveryReason], ends, what)
    t.strictSame((await callbacks(id)).filter((type) => type.startsWith('invoicing')), reported.map((to) => `invoicing.${to}`), what)
    has(t, await events(id, 'not_said'), [{
      facts: { statusId, message: 'It breaks a rule.', status: ends[0], changed: ends[0] !== 'paid' }
    }], what)
    const { rows: [step] } = await sql<{ settled: boolean }>`select delivery_settled as settled from steps where dispatch_id = ${id}`
      .execute(database.owner)
    t.equal(step?.settled, ends[0] === 'paid', `${what}: it is polled again`)

    // It may be said again.
    has(t, await say(id, part(parts.length, parts.at(-1) ?? '')), { status: 200, body: { state: 'said' } }, what)
    t.equal((await read(id)).steps[0].deliveryStatus, 'paid', what)
  }
})

await t.test('what the platform has told since stays where it takes back what was said', async (t) => {
  const id = await invoiced()
  has(t, await say(id, { ...paid, amounts: [{ rate: '20', amount: '1.00' }] }), { status: 200 })
  const step = await database.owner.selectFrom('steps').innerJoin('dispatches', 'dispatches.dispatch_id', 'steps.dispatch_id')
    .select(['step_id', 'steps.company_id']).where('steps.dispatch_id', '=', id).executeTakeFirstOrThrow()
  await rewrite(sql`insert into events (company_id, dispatch_id, step_id, kind, actor, at, facts)
    values (${step.company_id}, ${id}, ${step.step_id}, 'polled', '{"kind":"provider","code":"platform"}', now(),
      '{"status":"void","before":"partly_paid","changed":true}')`)
  await becomes(id, 'void')
  Object.assign(platform, { lookup: [refusal] })
  const { statusId } = (await said(id)).data[0]
  await followSaying(app.get('pipelineParts'), { companyId: step.company_id, dispatchId: id, statusId, look: 0 })
  t.equal((await read(id)).steps[0].deliveryStatus, 'void')
})

await t.test('where nothing is known of a step, what is taken back of what never moved it calls nobody back', async (t) => {
  const id = await invoiced()
  has(t, await say(id, paid), { status: 200 })
  await rewrite(sql`update events set facts = facts::jsonb || '{"changed":false}' where dispatch_id = ${id} and kind = 'said'`)
  const { company_id: companyId } = await database.owner.updateTable('steps').set({ delivery_status: null }).where('dispatch_id', '=', id)
    .returning('company_id').executeTakeFirstOrThrow()
  const reported = await callbacks(id)
  Object.assign(platform, { lookup: [refusal] })
  const { statusId } = (await said(id)).data[0]
  await followSaying(app.get('pipelineParts'), { companyId, dispatchId: id, statusId, look: 0 })
  has(t, await events(id, 'not_said'), [{ facts: { statusId, message: 'It breaks a rule.' } }])
  t.same(await callbacks(id), reported)
  t.notOk((await read(id)).steps[0].deliveryStatus)
})

await t.test('who else works on the dispatch goes first', async (t) => {
  const id = await invoiced()
  const { company_id: companyId } = await database.owner.selectFrom('dispatches').select('company_id').where('dispatch_id', '=', id)
    .executeTakeFirstOrThrow()
  await acquireLease(database, { companyId, dispatchId: id }, { lease: { runId: crypto.randomUUID(), seconds: 60 }, from: ['succeeded'] })
  isError(t, await say(id, paid), 'conflict')
  t.strictSame(await kinds(id), [])
})

await t.test('what cannot be said is refused, and nothing is sent', async (t) => {
  Object.assign(platform, { reported: [] })
  const id = await invoiced()
  const refusals = async (body: object): Promise<unknown> => {
    const { status, body: { error, details } } = await say(id, body)
    return [status, error, (details ?? []).map(({ path, code }: Record<string, string>) => `${path} ${code}`)]
  }
  t.strictSame(await refusals({ ...paid, amounts: [{ rate: '10', amount: '1.00' }] }), [422, 'validation_failed', [
    '/amounts/0/rate unknown_rate'
  ]])
  t.strictSame(await refusals({ ...paid, at: '2999-01-01T00:00:00Z' }), [422, 'validation_failed', ['/at in_the_future']])
  t.strictSame(await refusals({ ...paid, at: '2026-02-30T00:00:00Z' }), [422, 'validation_failed', ['/at format']])
  t.strictSame(await refusals({ code: '209' }), [409, 'conflict', []], 'the customer waits for nothing')
  t.strictSame(await refusals({ code: '205' }), [400, 'validation_error', ['/code enum']])
  t.strictSame(await refusals({ ...paid, amounts: [] }), [400, 'validation_error', ['/amounts too_few']])
  t.strictSame(await refusals({ ...paid, other: 1 }), [400, 'validation_error', ['/other unknown_field']])
  await becomes(id, 'suspended')
  t.strictSame((await said(id)).sayable, ['209', '212'])
  has(t, await say(id, { code: '209', reason: 'The order is attached now.' }), { status: 200, body: { state: 'said' } })
  t.equal((await read(id)).steps[0].deliveryStatus, 'suspended')
  await becomes(id, 'rejected')
  isError(t, await say(id, paid), 'conflict')

  for (const other of [await invoiced('mute'), await invoiced('platform', 'INVOICE')]) {
    t.strictSame(await said(other), { data: [], sayable: [] })
    isError(t, await say(other, paid), 'conflict')
  }
  const old = await invoiced()
  await sql`update dispatches set data = null where dispatch_id = ${old}`.execute(database.owner)
  isError(t, await say(old, paid), 'document_expired')
  t.equal(platform.reported.length, 1)
})

await t.test('another company says nothing of it, and sees nothing', async (t) => {
  const id = await invoiced()
  const { admin } = await service.company('other')
  isError(t, await say(id, paid, admin), 'not_found')
  isError(t, await send('GET', `/api/v1/dispatches/${id}/statuses`, {}, admin), 'not_found')
  t.strictSame(await kinds(id), [])
})

await t.test('the simulator takes what is said, under its reference', async (t) => {
  const id = await invoiced('simulator')
  has(t, await say(id, { code: '212' }), { status: 200, body: { state: 'said', name: 'Encaissée' } })
  t.equal((await read(id)).steps[0].deliveryStatus, 'paid')
})
