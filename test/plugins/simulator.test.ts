import t from 'tap'
import { invoiceRequest, startService, type Answer } from '../support/service.ts'
import { quickRenderer } from './support/parts.ts'

const service = await startService(t, { parts: { renderer: quickRenderer } })
const dispatch = (reference: string, { key, number = crypto.randomUUID() }: { key?: string, number?: string } = {}): Promise<Answer> => service.send('POST', '/api/invoicing', {
  body: invoiceRequest({ number }, { invoicing: { reference } }),
  headers: key === undefined ? {} : { 'x-idempotency-key': key }
})
const credits = async (): Promise<{ balance: number, held: number }> => {
  const { body: { balance, held } } = await service.send('GET', '/api/v1/credits')
  return { balance, held }
}
const read = async (dispatchId: string): Promise<any> => (await service.send('GET', `/api/v1/dispatches/${dispatchId}`)).body
const timeline = async (dispatchId: string): Promise<any[]> => (await service.send('GET', `/api/v1/dispatches/${dispatchId}/events`)).body.data

await t.test('reject: a 422 provider_error with the vendor\'s own code, which costs nothing', async (t) => {
  const before = await credits()
  const { status, body } = await dispatch('reject')
  t.equal(status, 422)
  t.match(body, { error: 'provider_error', dispatchId: /^[0-9a-f-]{36}$/, details: [{ path: '', code: 'declined', message: 'The simulator declines what says "reject".' }] })
  t.strictSame(await credits(), before)
  t.match(await read(body.dispatchId), { status: 'failed', creditsCharged: 0, steps: [{ status: 'rejected', providerResponse: null, creditsCharged: 0, error: { error: 'provider_error', details: [{ code: 'declined' }] } }] })
})

await t.test('reject by the first e-mail address does the same', async (t) => {
  const { status, body } = await service.send('POST', '/api/invoicing', { body: invoiceRequest({ customer: { name: 'Ada', email: 'reject@example.com' } }) })
  t.match({ status, body }, { status: 422, body: { error: 'provider_error', details: [{ code: 'declined' }] } })
})

await t.test('unavailable: 503 twice, then accepted, when it is repeated with its idempotency key', async (t) => {
  const before = await credits()
  const number = crypto.randomUUID()
  const first = await dispatch('unavailable', { key: 'unavailable-1', number })
  t.match(first, { status: 503, body: { error: 'provider_unavailable', dispatchId: String } })
  t.strictSame(await credits(), before)
  const second = await dispatch('unavailable', { key: 'unavailable-1', number })
  t.match(second, { status: 503, body: { dispatchId: first.body.dispatchId } })
  const third = await dispatch('unavailable', { key: 'unavailable-1', number })
  t.match(third, { status: 200, body: { success: true, dispatchId: first.body.dispatchId, status: 'succeeded', generatedDocument: { contentType: 'application/pdf' } } })
  t.strictSame(await credits(), { balance: before.balance - 1, held: 0 })

  t.strictSame((await timeline(first.body.dispatchId)).map(({ kind }) => kind), [
    'planned', 'rendered', 'calling', 'answered', 'resumed', 'calling', 'answered', 'resumed', 'calling', 'answered'
  ])
})

await t.test('unavailable without a key begins anew each time', async (t) => {
  const [first, second] = [await dispatch('unavailable'), await dispatch('unavailable')]
  t.equal(first.status, 503)
  t.equal(second.status, 503)
  t.not(first.body.dispatchId, second.body.dispatchId)
})

await t.test('uncertain: a 504 outcome_unknown whose hold is kept, and which no repeat sends again', async (t) => {
  const before = await credits()
  const number = crypto.randomUUID()
  const { status, body } = await dispatch('uncertain', { key: 'uncertain-1', number })
  t.match({ status, body }, { status: 504, body: { error: 'outcome_unknown', dispatchId: String } })
  const kept = { balance: before.balance, held: before.held + 1 }
  t.strictSame(await credits(), kept)
  t.match(await read(body.dispatchId), { status: 'uncertain', creditsCharged: 0, steps: [{ status: 'uncertain', error: { error: 'outcome_unknown' } }] })

  const repeated = await dispatch('uncertain', { key: 'uncertain-1', number })
  t.match(repeated, { status: 504, body: { error: 'outcome_unknown', dispatchId: body.dispatchId } })
  t.equal(repeated.headers.get('idempotency-replayed'), 'true')
  t.strictSame(await credits(), kept)
  t.equal((await timeline(body.dispatchId)).filter(({ kind }) => kind === 'calling').length, 1)
})

await t.test('a document number is taken once for each document type', async (t) => {
  const number = crypto.randomUUID()
  t.equal((await dispatch('first', { number })).status, 200)
  const before = await credits()
  const { status, body } = await dispatch('second', { number })
  t.match({ status, body }, { status: 422, body: { error: 'provider_error', details: [{ code: 'duplicate_number' }] } })
  t.match(body.message, number)
  t.strictSame(await credits(), before)
  t.equal((await service.send('POST', '/api/invoicing', { body: invoiceRequest({ number }, { documentType: 'CREDIT' }) })).status, 200)
})

await t.test('another company may use the same number', async (t) => {
  const { member } = await service.company('twin')
  const number = crypto.randomUUID()
  for (const login of [undefined, member]) t.equal((await service.send('POST', '/api/invoicing', { body: invoiceRequest({ number }) }, login)).status, 200)
})

await t.test('the timeline tells what happened, in order, by whom and with which facts', async (t) => {
  const { body } = await dispatch('anything')
  const events = await timeline(body.dispatchId)
  t.match(events, [
    { kind: 'planned', actor: { kind: 'user', userId: Number }, facts: { price: 1, template: { id: 1, version: 1 } } },
    { kind: 'rendered', service: 'invoicing', actor: { kind: 'system' }, facts: { documentId: body.generatedDocument.id, sha256: body.generatedDocument.sha256, size: 14, pages: 1 } },
    { kind: 'calling', service: 'invoicing', actor: { kind: 'system' }, facts: { providerName: 'simulator', providerVersion: /^\d+\.\d+\.\d+$/ } },
    { kind: 'answered', service: 'invoicing', actor: { kind: 'provider', code: 'simulator' }, facts: { outcome: 'accepted', remoteId: body.providerResponse.id } }
  ])
  t.equal(events.length, 4)
  const times = events.map(({ at }) => at as string)
  t.strictSame(times, times.toSorted())
})

await t.test('the outbox shows what was sent, with the document by name and not by content', async (t) => {
  const { body } = await dispatch('shown')
  const outbox = await service.send('GET', '/api/v1/simulator/outbox')
  t.match(outbox.body.data[0], {
    service: 'invoicing',
    invoicing: { documentType: 'INVOICE', reference: 'shown' },
    document: { id: body.generatedDocument.id, sha256: body.generatedDocument.sha256 },
    response: { id: body.providerResponse.id },
    sandbox: false
  })
})

await t.test('the outbox is not there in production', async (t) => {
  const production = await startService(t, { config: { environment: 'production' }, parts: { renderer: quickRenderer } })
  t.equal((await production.send('GET', '/api/v1/simulator/outbox')).status, 404)
})
