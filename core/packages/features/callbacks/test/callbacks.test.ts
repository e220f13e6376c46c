import { randomUUIDv7 } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import t from 'tap'
import { languages } from '../../../../../plugins/console/language/language.ts'
import { until } from '../../../../../test/core/work/support.ts'
import { openConsole } from '../../../../../test/plugins/support/console.ts'
import { contains, has, lacks } from '../../../../../test/support/matching.ts'
import { quickRenderer } from '../../../../../test/support/quick-renderer.ts'
import { invoiceRequest, type Login, startService } from '../../../../../test/support/service.ts'
import { createVendor, vendorNetwork } from '../../../conformance/vendor/vendor.ts'
import { callbackJob, callbackLimits } from '../service/delivery.ts'
import { noteCallback } from '../store/outbox.ts'

const receiver = await createVendor()
const service = await startService(t, { replacements: { renderer: quickRenderer, network: vendorNetwork(receiver) } })
t.teardown(receiver.close)
const { send, app } = service
const demo = 2

/** A dispatch of "Demo". */
async function dispatched (): Promise<string> {
  return (await send('POST', '/api/invoicing', { body: invoiceRequest() })).body.dispatchId as string
}

/** Records a callback as the pipeline does, with its job. */
async function note (dispatchId: string, url = 'https://hooks.acme.test/', companyId = demo): Promise<string> {
  const queue = app.get('queue')
  return app.get('database').owner.transaction().execute(async (queries) => {
    const id = await noteCallback(queries, {
      companyId,
      dispatchId,
      type: 'dispatch.succeeded',
      url,
      data: { dispatchId },
      now: new Date(),
      due: app.get('database').now,
      newId: randomUUIDv7
    })
    await queue.send('callback', [callbackJob({ companyId, toEndpoint: false }, id)], queries)
    return id
  })
}

const read = async (dispatchId: string, query = ''): Promise<{ data: any[], nextCursor: string | null }> =>
  (await send('GET', `/api/v1/dispatches/${dispatchId}/callbacks${query}`)).body
const sent = (id: string) => receiver.requests.filter(({ headers }) => headers['webhook-id'] === id)
const rotate = (login?: Login) => send('POST', '/api/v1/company/callback-secret', {}, login)

await t.test('a recorded callback is delivered by the queue, signed with the secret that was shown once', async (t) => {
  receiver.answer({ status: 200 })
  t.strictSame((await send('GET', '/api/v1/company/callback-secret')).body, { secrets: [] })
  const { status, body, headers } = await rotate()
  t.equal(status, 200)
  has(t, body, { secret: /^whsec_[A-Za-z0-9+/]{43}=$/, previousUntil: null })
  t.equal(headers.get('cache-control'), 'no-store')
  const dispatchId = await dispatched()
  const id = await note(dispatchId)
  await until('it is delivered', async () => (await read(dispatchId)).data[0]?.state === 'delivered')
  const [request] = sent(id)
  has(t, new Webhook(body.secret as string).verify(request!.body.toString(), request!.headers), {
    type: 'dispatch.succeeded',
    sequence: 1,
    data: { dispatchId }
  })
  has(t, (await read(dispatchId)).data, [{
    id,
    dispatchId,
    type: 'dispatch.succeeded',
    sequence: 1,
    receiver: 'hooks.acme.test',
    state: 'delivered',
    nextAttemptAt: null,
    attempts: [{ number: 1, outcome: 'delivered', status: 200, milliseconds: Number }]
  }])

  const again = (await rotate()).body
  has(t, again, { previousUntil: /Z$/ })
  const shown = await send('GET', '/api/v1/company/callback-secret')
  has(t, shown.body, { secrets: [{ expiresAt: null }, { createdAt: body.createdAt, expiresAt: again.previousUntil }] })
  for (const secret of [body.secret, again.secret] as string[]) t.notOk(JSON.stringify([shown.body, service.log]).includes(secret.slice(6)))
  has(t, (await send('GET', '/api/v1/audit?action=callback-secret.rotated')).body.data, [
    { action: 'callback-secret.rotated' },
    { author: { userId: 2, companyId: demo } }
  ], 'who did it is in the audit log')
})

await t.test('a failed one is tried again by itself', async (t) => {
  receiver.answer([{ status: 500 }, { status: 200 }])
  const dispatchId = await dispatched()
  const id = await note(dispatchId)
  await until('it is delivered', async () => (await read(dispatchId)).data[0]?.state === 'delivered')
  t.equal(sent(id).length, 2)
  has(t, (await read(dispatchId)).data[0].attempts, [
    { number: 1, outcome: 'failed', status: 500, reason: 'It answered 500 instead of 200.' },
    { number: 2, outcome: 'delivered' }
  ])
})

await t.test('many of them are delivered once each, page by page in their order', async (t) => {
  receiver.answer({ status: 200 })
  const dispatchId = await dispatched()
  const ids: string[] = []
  for (let index = 0; index < 30; index++) ids.push(await note(dispatchId))
  await until('all are delivered', async () => (await read(dispatchId, '?limit=100')).data.every(({ state }) => state === 'delivered'))
  t.strictSame(ids.map((id) => sent(id).length), ids.map(() => 1))
  const first = await read(dispatchId, '?limit=20')
  const second = await read(dispatchId, `?limit=20&cursor=${first.nextCursor ?? ''}`)
  t.strictSame([...first.data, ...second.data].map(({ id }) => id as string), ids)
  t.equal(second.nextCursor, null)
  t.strictSame(await read(dispatchId, '?cursor=48104393593'), { data: [], nextCursor: null }, 'beyond every number that there can be')
})

await t.test('a callback is replayed by an admin, under its id; what is under way or unknown is not', async (t) => {
  receiver.answer([{ status: 410 }, { status: 200 }])
  const dispatchId = await dispatched()
  const id = await note(dispatchId)
  await until('it is stopped', async () => (await read(dispatchId)).data[0]?.state === 'stopped')
  const { status, body } = await send('POST', `/api/v1/callbacks/${id}/replay`)
  has(t, [status, body], [200, { id, state: 'pending', attempts: [{ outcome: 'stopped', status: 410 }] }])
  await until('it is delivered', async () => (await read(dispatchId)).data[0]?.state === 'delivered')
  t.equal(sent(id).length, 2)

  const held = Promise.withResolvers<{ status: number }>()
  receiver.answer(() => held.promise)
  await send('POST', `/api/v1/callbacks/${id}/replay`)
  await until('it is under way', () => sent(id).length === 3)
  has(t, await send('POST', `/api/v1/callbacks/${id}/replay`), { status: 409, body: { error: 'conflict' } })
  held.resolve({ status: 200 })
  await until('it is delivered', async () => (await read(dispatchId)).data[0]?.attempts[2]?.outcome === 'delivered')
  await app.get('database').owner.updateTable('outbox').set({ body: null }).where('callback_id', '=', id).execute()
  has(t, await send('POST', `/api/v1/callbacks/${id}/replay`), { status: 409, body: { message: /no longer kept/ } })
  for (const unknown of ['x', randomUUIDv7()]) {
    has(t, await send('POST', `/api/v1/callbacks/${unknown}/replay`), { status: 404, body: { error: 'not_found' } })
  }
})

await t.test('receivers of one company that do not answer do not keep those of another waiting', async (t) => {
  const held = Promise.withResolvers<{ status: number }>()
  receiver.answer(({ host }) => host.startsWith('mute') ? held.promise : { status: 200 })
  const muted = () => receiver.requests.filter(({ host }) => host.startsWith('mute')).length
  const dispatchId = await dispatched()
  for (let index = 0; index < 40; index++) await note(dispatchId, `https://mute-${String(index % 4)}.acme.test/`)
  await until('as many as may are under way', () => muted() >= callbackLimits.perCompany)
  const { companyId, admin } = await service.company('patient')
  const other = (await send('POST', '/api/invoicing', { body: invoiceRequest() }, admin)).body.dispatchId as string
  const id = await note(other, 'https://hooks.acme.test/', companyId)
  await until('the other one is delivered', () => sent(id).length === 1)
  t.equal(muted(), callbackLimits.perCompany)
  held.resolve({ status: 200 })
  await until('they are all delivered', async () => (await read(dispatchId, '?limit=100')).data.every(({ state }) => state === 'delivered'),
    30)
})

await t.test('what was not received is listed to admins, the newest first, and the console tells them', async (t) => {
  const acme = await service.company('lost')
  const { body: { dispatchId } } = await send('POST', '/api/invoicing', { body: invoiceRequest() }, acme.admin)
  receiver.answer({ status: 200 })
  const ids: string[] = []
  for (let count = 0; count < 3; count++) ids.push(await note(dispatchId, 'https://lost.acme.test/', acme.companyId))
  const states = async (): Promise<string[]> =>
    (await send('GET', `/api/v1/dispatches/${String(dispatchId)}/callbacks`, {}, acme.admin)).body.data.map(({ state }: any) => state)
  await until('they are delivered', async () => (await states()).every((state) => state === 'delivered'))
  const { open, signIn } = openConsole(service)
  const cookie = await signIn(acme.admin)
  contains(t, (await open('', cookie)).body, languages.en.needsNobody)
  const { owner } = app.get('database')
  await owner.updateTable('outbox').set({ state: 'failed' }).where('callback_id', 'in', ids.slice(0, 2)).execute()
  const failed = async (query = '', login = acme.admin): Promise<any> =>
    (await send('GET', `/api/v1/company/callbacks/failed${query}`, {}, login)).body
  t.strictSame((await failed()).data.map(({ id }: any) => id), [ids[1], ids[0]])
  const [first, rest] = [await failed('?limit=1'), await failed(`?cursor=${String(ids[1])}`)]
  t.strictSame([first.nextCursor, first.data.length, rest.data.map(({ id }: any) => id)], [ids[1], 1, [ids[0]]])
  t.strictSame((await failed('', (await service.company('found')).admin)).data, [], 'nothing of another company')
  t.equal((await failed('', acme.member)).error, 'forbidden')
  const home = (await open('', cookie)).body
  contains(t, home,
    `<a href="/console/dispatches/${String(dispatchId)}#callbacks">${
      languages.en.callbackLost.replace('{type}', 'dispatch.succeeded').replace('{receiver}', 'lost.acme.test')
    }</a>`)
  lacks(t, (await open('', await signIn(acme.member))).body, 'lost.acme.test')
})
