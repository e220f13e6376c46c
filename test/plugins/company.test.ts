import type { Queue } from '@dispatch/queue'
import { randomUUIDv7 } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { createVendor, vendorNetwork } from '../../core/packages/conformance/vendor/vendor.ts'
import { sendCreditWarnings } from '../../core/packages/features/callbacks/service/credit-warnings.ts'
import { listCompaniesDue } from '../../core/packages/features/callbacks/store/attempts.ts'
import { until } from '../core/work/support.ts'
import { hasNoFault, isError } from '../hostile/support.ts'
import { has, lacks } from '../support/matching.ts'
import { resolved, schemasOf } from '../support/openapi.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { type Answer, invoiceRequest, type Login, operator, seededDatabase, startService } from '../support/service.ts'

const receiver = await createVendor()
t.teardown(receiver.close)
receiver.answer({ status: 200 })
const databaseUrl = await seededDatabase(t)
/** It does no work beside its requests: who is told stands in the tests. */
const service = await startService(t, { databaseUrl, config: { runsWorker: false }, replacements: { renderer: quickRenderer } })
const { app, send } = service
const { owner } = app.get('database')

const read = async (login: Login): Promise<any> => (await send('GET', '/api/v1/company', {}, login)).body
const change = (login: Login, body: unknown): Promise<Answer> => send('PUT', '/api/v1/company', { body }, login)
const grant = (companyId: number, amount: number): Promise<Answer> =>
  send('POST', `/api/v1/companies/${companyId}/credits`, { body: { amount, reason: 'Test' } }, operator)
const dispatch = async (login: Login, more: Record<string, unknown> = {}): Promise<number> =>
  (await send('POST', '/api/invoicing', { body: invoiceRequest({}, more) }, login)).status
const stateOf =
  async (companyId: number) => (await owner.selectFrom('credits').select(['warning', 'warnings']).where('company_id', '=', companyId)
    .executeTakeFirstOrThrow())

/** As the sweep of any process does. */
const tell = (queue: Pick<Queue, 'send'> = app.get('queue')): Promise<void> =>
  sendCreditWarnings({ database: app.get('database'), queue, now: () => new Date(), newId: randomUUIDv7 })

await t.test('a company is everything by default: reachable from everywhere, never warned', async (t) => {
  const { companyId, admin } = await service.company('by-default')
  t.strictSame(await read(admin), {
    id: companyId,
    name: 'by-default',
    addresses: [],
    notifyUrl: null,
    lowCredit: null,
    requireSecondFactor: false
  })
})

await t.test('addresses are stored as networks, each written in the one way', async (t) => {
  const { admin } = await service.company('networks')
  const given = ['127.0.0.1', '10.1.2.3/8', '10.0.0.0/8', '::1', '2001:DB8:0:0:0:0:0:1/32', '::ffff:192.0.2.1', '::ffff:192.0.2.0/120']
  const { status, body } = await change(admin, { addresses: given })
  t.equal(status, 200)
  t.strictSame(body.addresses, ['127.0.0.1/32', '10.0.0.0/8', '::1/128', '2001:db8::/32', '192.0.2.1/32', '192.0.2.0/24'])
  t.strictSame(await read(admin), body)
  const wrong = ['', 'localhost', '10.0.0.0/33', '010.0.0.1', '10.1', '0x7f000001', '::1/129', 'fe80::1%eth0', '10.0.0.0/8/8',
    '10.0.0.0/-1', '1.2.3.4;drop table']
  const refused = await change(admin, { addresses: ['127.0.0.1', ...wrong] })
  isError(t, refused, 'validation_error')
  t.strictSame(refused.body.details.map(({ path }: { path: string }) => path), wrong.map((_, index) => `/addresses/${index + 1}`))
  t.strictSame(await read(admin), body, 'and nothing is changed')
})

await t.test('a list that shuts out who writes it is refused, unless it is forced', async (t) => {
  const { admin } = await service.company('lock-out')
  const refused = await change(admin, { addresses: ['192.0.2.0/24'] })
  isError(t, refused, 'validation_failed')
  has(t, refused.body.details, [{ path: '/addresses', code: 'locks_out', message: /You call from 127\.0\.0\.1/ }])
  t.strictSame((await read(admin)).addresses, [])
  t.equal((await change(admin, { addresses: ['192.0.2.0/24', '127.0.0.0/8'] })).status, 200)
  t.strictSame((await change(admin, { addresses: ['192.0.2.0/24'], force: true })).body.addresses, ['192.0.2.0/24'])
})

await t.test('a change changes what it names; what it names wrongly is refused', async (t) => {
  const { admin } = await service.company('settings')
  const notifyUrl = 'https://hooks.acme.test/credits'
  has(t, (await change(admin, { notifyUrl })).body, { notifyUrl, lowCredit: null })
  has(t, (await change(admin, { lowCredit: 5 })).body, { notifyUrl, lowCredit: 5 })
  has(t, (await change(admin, { notifyUrl: null })).body, { notifyUrl: null, lowCredit: 5 })
  has(t, (await change(admin, { lowCredit: null })).body, { notifyUrl: null, lowCredit: null })
  const wrong = [
    {},
    { lowCredit: 0 },
    { lowCredit: -1 },
    { lowCredit: 1.5 },
    { notifyUrl: 'http://hooks.acme.test/' },
    { notifyUrl: 'https://user:word@hooks.acme.test/' },
    { notifyUrl: 'no url' },
    { name: 'Mine' },
    { force: 'yes', lowCredit: 1 },
    { addresses: '127.0.0.1' }
  ]
  for (const body of wrong) isError(t, await change(admin, body), 'validation_error', JSON.stringify(body))
})

await t.test('a host that is an address and not public is refused for notifyUrl as for callbackUrl, in the same words', async (t) => {
  const { admin } = await service.company('not-public')
  for (const [host, address] of [['169.254.169.254', '169.254.169.254'], ['[fd00::1]:8443', '[fd00::1]'], ['2852039166',
    '169.254.169.254']])
  {
    const url = `https://${host ?? ''}/credits`
    const refused = await change(admin, { notifyUrl: url })
    isError(t, refused, 'validation_failed', url)
    const [callback] = (await send('POST', '/api/invoicing', { body: invoiceRequest({}, { callbackUrl: url }) }, admin)).body.details
    t.same(refused.body.details, [{ ...callback, path: '/notifyUrl' }], url)
    has(t, callback, {
      path: '/callbackUrl',
      code: 'address_not_public',
      message: `Callbacks are sent to public addresses alone, and ${address ?? ''} is none: give the public name of the receiver.`
    })
  }
  t.equal((await read(admin)).notifyUrl, null)
})

await t.test('a company whose free credits fall below its threshold is told once, signed, to its address', async (t) => {
  const { companyId, admin } = await service.company('warned', { credits: 3 })
  const { body: { secret } } = await send('POST', '/api/v1/company/callback-secret', {}, admin)
  const notifyUrl = 'https://warned.test/credits?token=in-the-address'
  await change(admin, { notifyUrl, lowCredit: 2 })
  receiver.requests.length = 0
  t.equal(await dispatch(admin), 200)
  await tell()
  t.strictSame(await stateOf(companyId), { warning: 'armed', warnings: 0 }, 'as many as the threshold are enough')
  t.equal(await dispatch(admin), 200)
  await startService(t, { databaseUrl, replacements: { renderer: quickRenderer, network: vendorNetwork(receiver) } })
  await until('it is told by a process that works', () => receiver.requests.length > 0)
  t.equal(await dispatch(admin), 200)
  await tell()
  const [request, ...more] = receiver.requests.filter(({ host }) => host === 'warned.test')
  t.strictSame(more, [], 'once')
  has(t, request, { method: 'POST', path: '/credits', query: { token: 'in-the-address' } })
  has(t, new Webhook(secret as string).verify(request!.body.toString(), request!.headers), {
    type: 'company.credits_low',
    sequence: 1,
    data: { companyId, balance: 1, held: 0, lowCredit: 2 }
  })
  const { body: document } = await service.send('GET', '/openapi.json', {}, null)
  const { requestBody, parameters } = resolved(document, document.webhooks['company.credits_low']).post
  has(t, schemasOf(document)(resolved(document, requestBody).content['application/json'].schema)(JSON.parse(request!.body.toString())), {
    ok: true
  }, 'as the documentation has it')
  for (const parameter of parameters) t.ok(request!.headers[resolved(document, parameter).name], 'with its headers')
  const { body } = await send('GET', '/api/v1/company/callbacks', {}, admin)
  has(t, body, {
    data: [{ type: 'company.credits_low', sequence: 1, receiver: 'warned.test', state: 'delivered', attempts: [{ outcome: 'delivered' }] }],
    nextCursor: null
  })
  t.notOk('dispatchId' in body.data[0])
  t.equal((await send('POST', `/api/v1/callbacks/${body.data[0].id}/replay`, {}, admin)).status, 200, 'it is replayed as any callback')
  t.strictSame((await send('GET', '/api/v1/company/callbacks', {}, (await service.company('stranger')).admin)).body.data, [])
})

/** A company with a threshold, whose warnings are counted and not sent. */
async function watched (name: string, { credits, lowCredit }: { credits: number, lowCredit: number }) {
  const company = await service.company(name, { credits })
  await change(company.admin, { notifyUrl: `https://${name}.test/`, lowCredit })
  return { ...company, state: () => stateOf(company.companyId) }
}

await t.test('a hold counts as a debit does; that it is released does not arm the warning again', async (t) => {
  const { member, state } = await watched('holding', { credits: 2, lowCredit: 2 })
  t.equal(await dispatch(member, { invoicing: { reference: 'reject' } }), 422)
  t.strictSame(await state(), { warning: 'due', warnings: 0 })
  await tell()
  for (let turn = 0; turn < 3; turn++) t.equal(await dispatch(member, { invoicing: { reference: 'reject' } }), 422)
  await tell()
  t.strictSame(await state(), { warning: 'told', warnings: 1 })
})

await t.test('a grant that lifts them to the threshold arms it again; one that does not leaves it', async (t) => {
  const { companyId, member, state } = await watched('granted', { credits: 1, lowCredit: 5 })
  t.equal((await state()).warning, 'due', 'who is below when the threshold is set is told')
  await tell()
  await grant(companyId, 3)
  t.strictSame(await state(), { warning: 'told', warnings: 1 }, '4 of 5')
  await grant(companyId, 1)
  t.strictSame(await state(), { warning: 'armed', warnings: 1 }, '5 of 5')
  t.equal(await dispatch(member), 200)
  await tell()
  t.strictSame(await state(), { warning: 'told', warnings: 2 })
  await grant(companyId, 10)
  await grant(companyId, -10)
  t.strictSame(await state(), { warning: 'due', warnings: 2 }, 'a correction crosses it too')
  await grant(companyId, 10)
  await tell()
  t.strictSame(await state(), { warning: 'armed', warnings: 2 }, 'who has enough again before it is told is not told')
})

await t.test('another threshold begins anew, the same one does not; without one nobody is told', async (t) => {
  const { admin, state } = await watched('another', { credits: 5, lowCredit: 10 })
  await tell()
  await change(admin, { lowCredit: 10 })
  t.strictSame(await state(), { warning: 'told', warnings: 1 })
  await change(admin, { lowCredit: 5 })
  t.strictSame(await state(), { warning: 'armed', warnings: 1 }, '5 of 5')
  await change(admin, { lowCredit: 6 })
  await tell()
  await change(admin, { lowCredit: null })
  t.equal(await dispatch(admin), 200)
  await tell()
  t.equal((await state()).warnings, 2)
})

await t.test('a hundred dispatches that cross it at once, and processes that find it at once: one notification', async (t) => {
  const { companyId, member, state } = await watched('crowd', { credits: 20, lowCredit: 15 })
  await Promise.all(Array.from({ length: 20 }, () => dispatch(member)))
  await Promise.all(Array.from({ length: 6 }, () => tell()))
  t.strictSame(await state(), { warning: 'told', warnings: 1 })
  const callbacks = await owner.selectFrom('outbox').select('sequence').where('company_id', '=', companyId).where('type', '=',
    'company.credits_low').execute()
  t.strictSame(callbacks, [{ sequence: 1 }])
})

await t.test('what is told and that it was told are one: where its job cannot be added, the callback is there and due', async (t) => {
  const { companyId, state } = await watched('broken', { credits: 1, lowCredit: 50 })
  await t.rejects(tell({ send: () => Promise.reject(new Error('The queue is away.')) }))
  t.strictSame(await state(), { warning: 'told', warnings: 1 })
  t.strictSame(await owner.selectFrom('outbox').select(['type', 'sequence', 'state']).where('company_id', '=', companyId).execute(), [{
    type: 'company.credits_low',
    sequence: 1,
    state: 'pending'
  }])
  t.ok((await listCompaniesDue(app.get('database'), 0)).some((due) => due.companyId === companyId), 'for the sweep to find')
})

await t.test('without an address nobody is told, and it is not told later', async (t) => {
  const { admin, companyId } = await service.company('addressless', { credits: 1 })
  await change(admin, { lowCredit: 5 })
  await tell()
  await change(admin, { notifyUrl: 'https://addressless.test/' })
  await tell()
  t.strictSame(await owner.selectFrom('outbox').select('type').where('company_id', '=', companyId).execute(), [])
})

await t.test('none of it was a fault of the service, and the addresses of receivers are not in its log', (t) => {
  hasNoFault(t, service)
  lacks(t, service.log.join('\n'), 'in-the-address')
  t.end()
})
