import { outcomeUnknown, refused, unavailable } from '@dispatch/core/provider'
import type { Format, Rendered } from '@dispatch/documents'
import { createBreakers } from '@dispatch/host'
import t from 'tap'
import { replacementOf } from '../../core/pipeline/recover/replacement.ts'
import { ownDocument } from '../../core/pipeline/run/chain-document.ts'
import { rehydrateRun } from '../../core/pipeline/run/run.ts'
import { findDispatch } from '../../core/store/dispatch/dispatch-views.ts'
import { chainBody } from '../support/chains.ts'
import { clockAt } from '../support/clock.ts'
import { createGate, type Gate } from '../support/gate.ts'
import { has, type Pattern } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { readingOf } from '../support/reading.ts'
import { runQueued } from '../support/run-queued.ts'
import { type Answer, invoiceRequest, type Login, startService } from '../support/service.ts'
import { accepts, testProviders } from './support/providers.ts'

const day = 24 * 3600
const clock = clockAt('2026-03-14T09:30:00Z')
const providers = await testProviders(t)

/** What the provider "moody" does next, and what it was called with. */
const moods: ('refuse' | 'close' | 'lose' | Gate)[] = []
const calls: { key: string, checkpointed: string | undefined, phoneNumber: string }[] = []
await providers.add('moody', { of: 'sms', service: 'idempotency: { kind: \'key\', ttl: 3600 }, checkpoint: true' },
  async ({ sms }: any, { idempotencyKey: key, checkpoint, checkpointed, reference }) => {
    calls.push({ key, checkpointed, phoneNumber: sms.phoneNumber })
    const mood = moods.shift()
    await checkpoint(`draft-${calls.length}`)
    if (mood === 'refuse') throw refused('E7', 'Not to them.')
    if (mood === 'close') throw unavailable('Closed.')
    if (mood === 'lose') throw outcomeUnknown('Nobody knows.')
    await mood?.pass()
    return { id: `moody-${reference}`, status: 'sent' }
  })
await providers.add('plain', {}, accepts)

let renders = 0
const place = { signer: 1, page: 1, x: 10, y: 20, width: 30, height: 40 }
/** Every document is another one, and is to be signed. */
const renderer = {
  ...quickRenderer,
  async render<F extends Format> (job: { format: F }): Promise<Rendered<F>> {
    const number = String(++renders)
    if (job.format === 'html') return { html: `<p>${number}</p>`, text: number, inline: [] } as unknown as Rendered<F>
    return {
      ...await quickRenderer.render(job as never),
      bytes: Buffer.from(`%PDF-1.7 ${number}`),
      signatures: [place]
    } as unknown as Rendered<F>
  }
}
const service = await startService(t, {
  config: { providerDirectories: providers.directories, prices: { sms: 2, upload: 3 }, runsWorker: false },
  replacements: { renderer, now: clock.now, breakers: createBreakers({ now: clock.now, failures: 1000 }) }
})
const { app, send } = service
for (const code of ['moody', 'plain']) await send('PUT', `/api/v1/company/providers/${code}`, { body: { settings: {} } })
const { dispatch: read, credits, outbox, timeline, events } = readingOf(service)
const { company_id: companyId } = await app.get('database').owner.selectFrom('users').select('company_id').where('email', '=',
  'demo@example.com').executeTakeFirstOrThrow()

const path = ['invoicing', 'sms', 'upload'] as const
const sms = { phoneNumber: '+33612345678', message: 'See {{ generatedDocument.url }}' }
const dispatch = (more: Record<string, unknown> = {}, headers: Record<string, string> = {}, login?: Login): Promise<Answer> =>
  send('POST', `/api/${path.join('/')}`, {
    body: chainBody(path, invoiceRequest()['template'], { sms: { ...sms, providerName: 'moody' }, ...more }),
    headers
  }, login)
/** A moment later, so that what it sends stands behind all that was sent before. */
const retry = (id: string, body?: unknown, { query = '', login }: { query?: string, login?: Login } = {}): Promise<Answer> => {
  clock.advance(1)
  return send('POST', `/api/v1/dispatches/${id}/retry${query}`, body === undefined ? {} : { body }, login)
}
const ledger = async (dispatchId: string): Promise<{ service: string, amount: number }[]> => {
  const rows = await app.get('database').owner.selectFrom('ledger').innerJoin('steps', 'steps.step_id', 'ledger.step_id').select([
    'service',
    'amount'
  ]).where('ledger.dispatch_id', '=', dispatchId).orderBy('entry_id').execute()
  return rows.map(({ service, amount }) => ({ service, amount: Number(amount) }))
}
t.beforeEach(() => {
  moods.length = 0
  calls.length = 0
})

await t.test('a chain that failed half-way is partially_dispatched: what is done is paid for, nothing else ' +
  'is, and nothing is held', async (t) => {
  const before = await credits()
  moods.push('refuse')
  const { status, body } = await dispatch({ metadata: { orderId: 'A-1' } })
  t.equal(status, 422)
  t.strictSame(Object.keys(body).sort(), ['creditsCharged', 'dispatchId', 'error', 'message', 'requestId', 'retryUrl', 'status', 'steps'])
  has(t, body, {
    error: 'partially_dispatched',
    status: 'partial',
    creditsCharged: 1,
    retryUrl: `https://dispatch.example.com/api/v1/dispatches/${body.dispatchId}/retry`
  })
  has(t, body.steps, [
    {
      service: 'invoicing',
      status: 'accepted',
      providerName: 'simulator',
      providerResponse: { id: String },
      generatedDocument: { sha256: String }
    },
    {
      service: 'sms',
      status: 'rejected',
      providerName: 'moody',
      providerResponse: null,
      generatedDocument: null,
      error: { error: 'provider_error', message: 'Not to them.', details: [{ code: 'E7' }] }
    },
    { service: 'upload', status: 'planned', providerName: 'simulator', providerResponse: null, generatedDocument: null }
  ])
  t.notOk('error' in body.steps[0] || 'error' in body.steps[2])
  t.strictSame(await credits(), { balance: before.balance - 1, held: before.held })
  t.strictSame(await ledger(body.dispatchId), [{ service: 'invoicing', amount: -1 }])
  has(t, await read(body.dispatchId), {
    status: 'partial',
    creditsCharged: 1,
    finishedAt: String,
    steps: [{ creditsCharged: 1 }, { creditsCharged: 0 }, { creditsCharged: 0 }]
  })
})

await t.test('a retry goes on with the stored bytes and repeats nothing', async (t) => {
  const before = await credits()
  moods.push('refuse')
  const { body: failed } = await dispatch()
  const { dispatchId, steps: [invoiced] } = failed
  const [rendered, sent] = [renders, (await outbox()).length]
  const { status, body } = await retry(dispatchId)
  t.equal(status, 200)
  has(t, body, {
    dispatchId,
    status: 'succeeded',
    steps: [{ providerResponse: invoiced.providerResponse }, { status: 'accepted' }, { status: 'accepted' }]
  })
  has(t, body.generatedDocument, { id: invoiced.generatedDocument.id, sha256: invoiced.generatedDocument.sha256 })
  t.equal(renders, rendered, 'nothing is rendered again')
  const later = (await outbox()).slice(sent)
  t.strictSame(later.map((entry) => [entry.service, entry.document.id]), [['upload', invoiced.generatedDocument.id]],
    'only what was left is sent')
  t.strictSame(await ledger(dispatchId), [
    { service: 'invoicing', amount: -1 },
    { service: 'sms', amount: -2 },
    { service: 'upload', amount: -3 }
  ])
  t.strictSame(await credits(), { balance: before.balance - 6, held: before.held })
  t.strictSame(await timeline(dispatchId), ['planned', 'rendered invoicing', 'calling invoicing', 'answered invoicing', 'calling sms',
    'answered sms', 'resumed', 'calling sms', 'answered sms', 'calling upload', 'answered upload'])
})

await t.test('a chain that failed again and again is charged for each step once', async (t) => {
  moods.push('refuse', 'close', 'refuse')
  const { body: { dispatchId } } = await dispatch()
  has(t, await retry(dispatchId), {
    status: 422,
    body: { error: 'partially_dispatched', steps: [{ status: 'accepted' }, { status: 'unavailable' }, { status: 'planned' }] }
  })
  has(t, await retry(dispatchId), { status: 422, body: { steps: [{ status: 'accepted' }, { status: 'rejected' }, { status: 'planned' }] } })
  t.equal((await retry(dispatchId)).status, 200)
  t.equal((await ledger(dispatchId)).length, 3)
})

await t.test('the object of what failed may be replaced, which stands in the timeline', async (t) => {
  moods.push('refuse')
  const { body: { dispatchId } } = await dispatch()
  t.equal((await retry(dispatchId, { sms: { ...sms, phoneNumber: '+33699999999' } })).status, 200)
  t.strictSame(calls.map(({ phoneNumber }) => phoneNumber), ['+33612345678', '+33699999999'])
  has(t, await events(dispatchId, 'resumed'), [{
    actor: { kind: 'user', userId: Number },
    facts: { replaced: ['phoneNumber', 'message'], price: 5 }
  }])
})

await t.test('with a recipient put right, the dispatch has and is found by the new one', async (t) => {
  moods.push('refuse')
  const { body: { dispatchId } } = await send('POST', '/api/sms', { body: { sms: { ...sms, message: 'Hello' }, providerName: 'moody' } })
  const found = async (recipient: string): Promise<boolean> => {
    const { body } = await send('GET', `/api/v1/dispatches?recipient=${encodeURIComponent(recipient)}`)
    return body.data.some((one: { dispatchId: string }) => one.dispatchId === dispatchId)
  }
  t.strictSame([await found(sms.phoneNumber), await found('+33699999998')], [true, false])
  has(t, await retry(dispatchId, { sms: { phoneNumber: '+33699999998', message: 'Hello' } }), { status: 200 })
  t.strictSame([await found(sms.phoneNumber), await found('+33699999998')], [false, true])
  has(t, await send('GET', `/api/v1/dispatches/${dispatchId}`), { body: { recipient: '+33699999998' } })
})

await t.test('a replacement is checked as a request would be, and changes nothing when it is wrong', async (t) => {
  moods.push('refuse')
  const { body: { dispatchId } } = await dispatch()
  const before = await timeline(dispatchId)
  const wrong: [unknown, Pattern][] = [
    [{ sms: { ...sms, phoneNumber: 7 } }, { status: 400, body: { error: 'validation_error', details: [{ path: '/sms/phoneNumber' }] } }],
    [{ sms: { message: 'Hello' } }, { status: 400, body: { details: [{ path: '/sms/phoneNumber' }] } }],
    [{ sms: { phoneNumber: sms.phoneNumber } }, { status: 400, body: { details: [{ path: '/sms/message', code: 'required' }] } }],
    [{ sms: { ...sms, more: 1 } }, { status: 400, body: { details: [{ path: '/sms/more' }] } }],
    [{ upload: {} }, { status: 400, body: { error: 'validation_error' } }],
    [{ email: { from: 'demo@example.com', to: 'a@example.com', subject: 'x' } }, { status: 400 }],
    ['[]', { status: 400, body: { error: 'validation_error' } }],
    [
      { sms: { ...sms, phoneNumber: '+331234567890123' } },
      { status: 422, body: { error: 'validation_failed', details: [{ path: '/sms/phoneNumber', code: 'impossible_number' }] } }
    ],
    [{ sms: { ...sms, sender: 'Ada' } }, { status: 422, body: { details: [{ path: '/sms/sender' }] } }]
  ]
  for (const [body, answer] of wrong) has(t, await retry(dispatchId, body), answer, JSON.stringify(body))
  t.strictSame(await timeline(dispatchId), before)
  t.equal(calls.length, 1)
})

await t.test('a replaced e-mail is held to the sender\'s list, and to its template', async (t) => {
  const email = { from: 'demo@example.com', to: 'reject@example.com', subject: 'Yours' }
  const { id, data } = invoiceRequest()['template'] as { id: number, data: object }
  const fail = async (more: object): Promise<string> =>
    (await send('POST', '/api/invoicing/email', {
      body: chainBody(['invoicing', 'email'], { id, data: { ...data, number: crypto.randomUUID() } }, { email: { ...email, ...more } })
    })).body.dispatchId
  const [plain, templated] = [await fail({ body: 'Hello' }), await fail({ template: { id, data } })]
  const fixed = { ...email, to: 'ada@example.com' }
  has(t, await retry(plain, { email: { ...fixed, body: 'Hello', from: 'other@example.com' } }), {
    status: 417,
    body: { error: 'expectation_failed', details: [{ path: '/email/from' }] }
  })
  has(t, await retry(plain, { email: { ...fixed, body: 'Hello', to: [] } }), { status: 417, body: { details: [{ path: '/email/to' }] } })
  has(t, await retry(plain, { email: fixed }), { status: 400, body: { details: [{ path: '/email/body', code: 'required' }] } })
  has(t, await retry(templated, { email: { ...fixed, body: 'Hello' } }), {
    status: 400,
    body: { details: [{ path: '/email/body', code: 'contradiction' }] }
  })
  const rendered = renders
  t.equal((await retry(templated, { email: fixed })).status, 200)
  t.equal(renders, rendered, 'the message too is the one that was made')
  const later = { email: { ...fixed, body: 'Hello', attachments: [{ fileId: crypto.randomUUID() }] } }
  has(t, await retry(plain, later), { status: 400, body: { details: [{ path: '/email/attachments', code: 'unknown_field' }] } })
  const requested = { body: later, headers: { 'x-api-version': '1.1.0' } }
  has(t, await send('POST', `/api/v1/dispatches/${plain}/retry`, requested), { status: 422, body: { details: [{ code: 'not_found' }] } })
  t.equal((await retry(plain, { email: { ...fixed, body: 'Hello' } })).status, 200)
})

await t.test('whoever is to sign is put right without losing the places to sign', async (t) => {
  const signer = { firstName: 'Ada', lastName: 'Lovelace' }
  const { body: { dispatchId } } = await send('POST', '/api/esign', {
    body: chainBody(['esign'], invoiceRequest()['template'], { signers: [{ ...signer, email: 'reject@example.com' }] })
  })
  t.equal((await retry(dispatchId, { esign: { signers: [{ ...signer, email: 'ada@example.com' }] } })).status, 200)
  has(t, (await outbox()).at(-1), { service: 'esign', esign: { signers: [{ email: 'ada@example.com' }] }, signatures: [place] },
    'the places are those of the document')
})

await t.test('a document that was made stays what it is: neither its type nor the number of those who ' +
  'sign may become another', async (t) => {
  const invoice = await send('POST', '/api/invoicing', { body: invoiceRequest({}, { invoicing: { reference: 'reject' } }) })
  has(t, await retry(invoice.body.dispatchId, { invoicing: { documentType: 'QUOTE', reference: 'fine' } }), {
    status: 422,
    body: { error: 'validation_failed', details: [{ path: '/invoicing/documentType', code: 'document_made' }] }
  })
  has(t, await retry(invoice.body.dispatchId, { invoicing: { documentType: 'INVOICE', reference: 'fine' } }), { status: 200 })

  const signer = (name: string): object => ({ email: `${name}@example.com`, firstName: name, lastName: 'Doe' })
  const contract = await send('POST', '/api/esign', { body: { template: invoiceRequest()['template'], signers: [signer('reject')] } })
  has(t, await retry(contract.body.dispatchId, { esign: { signers: [signer('ada'), signer('bob')] } }), {
    status: 422,
    body: { details: [{ path: '/esign/signers', code: 'document_made' }] }
  })
  has(t, await retry(contract.body.dispatchId, { esign: { signers: [signer('ada')] } }), { status: 200 })
})

await t.test('what succeeded, is uncertain, runs or was cancelled is not tried again', async (t) => {
  const { body: succeeded } = await dispatch()
  moods.push('lose')
  const { body: uncertain } = await dispatch()
  has(t, uncertain, {
    error: 'partially_dispatched',
    status: 'uncertain',
    steps: [{ status: 'accepted' }, { error: { error: 'outcome_unknown' } }, { status: 'planned' }]
  })
  const gate = createGate()
  moods.push(gate)
  const going = dispatch()
  await gate.reached
  const { body: { data: [running] } } = await send('GET', '/api/v1/dispatches?status=running')
  const { body: queued } = await send('POST', '/api/file?async=true', { body: { template: invoiceRequest()['template'] } })
  for (const { dispatchId } of [succeeded, uncertain, running, queued]) {
    has(t, await retry(dispatchId), { status: 409, body: { error: 'conflict', dispatchId } })
    has(t, await retry(dispatchId, { sms }), { status: 409 })
  }
  await send('POST', `/api/v1/dispatches/${queued.dispatchId}/cancel`)
  has(t, await retry(queued.dispatchId), { status: 409, body: { error: 'conflict', message: /cancelled/ } })
  gate.open()
  t.equal((await going).status, 200)
})

await t.test('of two retries at once one wins', async (t) => {
  moods.push('refuse')
  const { body: { dispatchId } } = await dispatch()
  const gate = createGate()
  moods.push(gate)
  const both = [retry(dispatchId), retry(dispatchId)]
  await gate.reached
  has(t, await Promise.race(both), { status: 409, body: { error: 'conflict', dispatchId } })
  gate.open()
  t.strictSame((await Promise.all(both)).map(({ status }) => status).sort(), [200, 409])
  t.equal(calls.length, 2)
  t.equal((await ledger(dispatchId)).length, 3)
})

await t.test('a retry that nobody waits for is queued, and holds its price meanwhile', async (t) => {
  moods.push('refuse')
  const { body: { dispatchId } } = await dispatch()
  const before = await credits()
  const { status, body } = await retry(dispatchId, undefined, { query: '?async=true' })
  t.equal(status, 200)
  t.strictSame(body, {
    success: true,
    dispatchId,
    status: 'queued',
    statusUrl: `https://dispatch.example.com/api/v1/dispatches/${dispatchId}`,
    metadata: {}
  })
  t.strictSame(await credits(), { ...before, held: before.held + 5 })
  has(t, await retry(dispatchId), { status: 409 })
  await runQueued(app.get('pipeline'), { companyId, dispatchId })
  has(t, await read(dispatchId), { status: 'succeeded', creditsCharged: 6 })
  t.strictSame(await credits(), { balance: before.balance - 5, held: before.held })
})

await t.test('without the credits for what is left, nothing is tried', async (t) => {
  const poor = await service.company('poor', { credits: 6 })
  for (const code of ['moody', 'simulator']) await send('PUT', `/api/v1/company/providers/${code}`, { body: { settings: {} } }, poor.admin)
  const body = (): Record<string, unknown> =>
    chainBody(path, invoiceRequest()['template'], { sms: { ...sms, providerName: 'moody' }, upload: { providerName: 'simulator' } })
  moods.push('refuse')
  const { body: { dispatchId } } = await send('POST', `/api/${path.join('/')}`, { body: body() }, poor.admin)
  await send('POST', '/api/invoicing', { body: invoiceRequest() }, poor.admin)
  const before = await readingOf(service, poor.admin).dispatch(dispatchId)
  has(t, await retry(dispatchId, undefined, { login: poor.admin }), {
    status: 402,
    body: { error: 'insufficient_credits', message: /costs 5 credits; 4 of 4 are free/ }
  })
  t.strictSame(await readingOf(service, poor.admin).dispatch(dispatchId), before)
  t.strictSame(await readingOf(service, poor.admin).credits(), { balance: 4, held: 0 })
})

await t.test('another company\'s dispatch is a 404, and so is one of services that one may not use', async (t) => {
  moods.push('refuse')
  const { body: { dispatchId } } = await dispatch()
  const others = await service.company('others')
  has(t, await retry(dispatchId, undefined, { login: others.admin }), { status: 404, body: { error: 'not_found' } })
  has(t, await retry(crypto.randomUUID()), { status: 404, body: { error: 'not_found' } })
  await app.get('database').owner.updateTable('users').set({ services: ['sms', 'upload'] }).where('email', '=', 'demo@example.com')
    .execute()
  has(t, await retry(dispatchId), { status: 404, body: { error: 'not_found' } })
  await app.get('database').owner.updateTable('users').set({ services: ['*'] }).where('email', '=', 'demo@example.com').execute()
  t.equal((await retry(dispatchId)).status, 200)
})

await t.test('a refusal ends what was prepared: the next try has another key and no checkpoint', async (t) => {
  moods.push('refuse')
  const { body: { dispatchId } } = await dispatch()
  await retry(dispatchId)
  const [first, second] = calls
  t.not(second?.key, first?.key)
  t.equal(second?.checkpointed, undefined)
})

await t.test('what was surely not sent is tried again under the same key, from its checkpoint', async (t) => {
  moods.push('close')
  const { body: { dispatchId } } = await dispatch()
  await retry(dispatchId)
  const [first, second] = calls
  t.equal(second?.key, first?.key)
  t.equal(second?.checkpointed, 'draft-1')
})

await t.test('the repeat of a request that ended in a 503 resumes it; of a chain of which something is done, it does not', async (t) => {
  moods.push('close')
  const alone = {
    body: { sms: { phoneNumber: sms.phoneNumber, message: 'Hello' }, providerName: 'moody' },
    headers: { 'x-idempotency-key': 'alone' }
  }
  const first = await send('POST', '/api/sms', alone)
  has(t, first, { status: 503, body: { error: 'provider_unavailable' } })
  const second = await send('POST', '/api/sms', alone)
  has(t, second, { status: 200, body: { dispatchId: first.body.dispatchId } })
  t.equal(second.headers.get('idempotency-replayed'), 'true')

  moods.push('close')
  const chain = {
    body: chainBody(path, invoiceRequest()['template'], { sms: { ...sms, providerName: 'moody' } }),
    headers: { 'x-idempotency-key': 'chain' }
  }
  const failed = await send('POST', `/api/${path.join('/')}`, chain)
  const repeated = await send('POST', `/api/${path.join('/')}`, chain)
  has(t, failed, { status: 422, body: { error: 'partially_dispatched' } })
  t.strictSame({ ...repeated.body, requestId: '' }, { ...failed.body, requestId: '' })
  t.equal(calls.length, 3)
  await retry(failed.body.dispatchId)
  has(t, await send('POST', `/api/${path.join('/')}`, chain), {
    status: 200,
    body: { dispatchId: failed.body.dispatchId, status: 'succeeded' }
  })
})

await t.test('whether a document is kept any more goes by the clock of the database', async (t) => {
  moods.push('refuse')
  const { body: { dispatchId } } = await dispatch()
  const record = await findDispatch(app.get('database'), companyId, dispatchId)
  if (record === undefined) throw new Error('There is no dispatch.')
  const ahead = { ...app.get('pipelineParts'), now: () => new Date(clock.now().getTime() + 60 * day * 1000) }
  const actor = await app.get('accounts').byId(record.user_id)
  if (actor === undefined) throw new Error('There is no user.')
  t.equal(await replacementOf(ahead, record, { body: undefined, link: '', actor, version: '1.1.0' }), undefined)
  const run = await rehydrateRun(ahead, companyId, dispatchId, crypto.randomUUID())
  if (run === undefined) throw new Error('There is no run.')
  t.same(Object.keys(await ownDocument(ahead, run)), ['document', 'signatures'])
})

await t.test('a document that is kept no more is not made again', async (t) => {
  moods.push('refuse')
  const { body: { dispatchId } } = await dispatch()
  clock.advance(30 * day - 2)
  has(t, await retry(dispatchId, { sms: { ...sms, phoneNumber: '+331234567890123' } }), { status: 422 })
  const rendered = renders
  has(t, await retry(dispatchId), { status: 409, body: { error: 'document_expired', dispatchId } })
  has(t, await retry(dispatchId, { sms }), { status: 409, body: { error: 'document_expired' } })
  has(t, await read(dispatchId), { status: 'partial' })
  t.equal(renders, rendered)
})
