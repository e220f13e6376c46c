import { sql } from 'kysely'
import t from 'tap'
import { readBacklog } from '../../core/packages/tables/backlog.ts'
import { createRunner } from '../../core/pipeline/run/runner.ts'
import { clockAt } from '../support/clock.ts'
import { has } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { readingOf } from '../support/reading.ts'
import { runQueued } from '../support/run-queued.ts'
import { type Answer, invoiceRequest, operator, startService } from '../support/service.ts'
import { sweepAndWork } from '../support/sweep.ts'
import { letter } from './support/templates.ts'

// The tests are the worker, and the clock is theirs. It is a Saturday.
const clock = clockAt('2026-03-14T09:30:00Z')
const service = await startService(t, {
  config: { runsWorker: false, prices: { sms: 2 } },
  replacements: { renderer: quickRenderer, now: clock.now }
})
const { app, send } = service
const [database, pipeline] = [app.get('database'), app.get('pipeline')]
const { dispatch: read, timeline, credits, callbacks, events, outbox } = readingOf({
  send: (method, path, { body, headers = {} } = {}, login) =>
    send(method, path, { body, headers: { 'x-api-version': '1.1.0', ...headers } }, login)
})
const { company_id: companyId } = await database.owner.selectFrom('users').select('company_id').where('email', '=', 'demo@example.com')
  .executeTakeFirstOrThrow()

const headers = { 'x-api-version': '1.1.0' }
const sms = { phoneNumber: '+33612345678', message: 'Hello' }
const text = (more: object = {}, path = ''): Promise<Answer> => send('POST', `/api/sms${path}`, { body: { sms, ...more }, headers })
const move = (id: string, body: object): Promise<Answer> => send('PUT', `/api/v1/dispatches/${id}/schedule`, { body, headers })
const take = (dispatchId: string): Promise<void> => runQueued(pipeline, { companyId, dispatchId })
const reported = ({ status, body }: Answer): unknown[] => [
  status,
  ...(body.details as { path: string, code: string }[]).map(({ path, code }) => `${path} ${code}`)
]
const ahead = (seconds: number): string => new Date(clock.now().getTime() + seconds * 1000).toISOString()
const hour = 3600

await t.test('a scheduled dispatch is queued until its time, costs nothing before, and is sent once by the sweep', async (t) => {
  const before = await credits()
  const sendAt = ahead(hour)
  const { status, body } = await text({ sendAt, callbackUrl: 'https://client.example/done' })
  t.equal(status, 200)
  t.same(Object.keys(body), ['success', 'dispatchId', 'status', 'sendAt', 'statusUrl', 'metadata'])
  has(t, body, { status: 'queued', sendAt })
  const id = body.dispatchId as string
  has(t, await read(id), { status: 'queued', sendAt, nextTryAt: sendAt, creditsCharged: 0 })
  t.strictSame(await credits(), before, 'nothing is held')
  await take(id)
  has(t, await read(id), { status: 'queued' }, 'its job comes too early, and does nothing')
  clock.advance(hour + 31)
  await sweepAndWork(pipeline, app.get('pipelineParts'))
  has(t, await read(id), { status: 'succeeded', sendAt, creditsCharged: 2 })
  t.strictSame(await credits(), { ...before, balance: before.balance - 2 })
  t.same(await callbacks(id), ['dispatch.succeeded'])
  has(t, await events(id, 'planned'), [{ facts: { price: 2, sendAt } }])
  t.equal((await outbox()).length, 1)
})

await t.test('with hold: "now" its price is held from the beginning, and a cancellation gives it back', async (t) => {
  const before = await credits()
  const { body: { dispatchId: id } } = await text({ sendAt: ahead(hour), hold: 'now', callbackUrl: 'https://client.example/done' })
  t.strictSame(await credits(), { ...before, held: before.held + 2 })
  const cancelled = await send('POST', `/api/v1/dispatches/${id}/cancel`, { headers })
  has(t, cancelled, { status: 200, body: { status: 'cancelled' } })
  t.strictSame(await credits(), before)
  t.same(await callbacks(id), ['dispatch.cancelled'])
  clock.advance(2 * hour)
  await take(id)
  has(t, await read(id), { status: 'cancelled' })
  has(t, await move(id, { sendAt: ahead(hour) }), { status: 409, body: { error: 'conflict' } })
})

await t.test('it is moved to a later time, and to an earlier one; without a time it is due at once', async (t) => {
  const { body: { dispatchId: id } } = await text({ sendAt: ahead(hour), hold: 'now' })
  const later = ahead(3 * hour)
  has(t, await move(id, { sendAt: later }), { status: 200, body: { status: 'queued', sendAt: later } })
  clock.advance(hour + 1)
  await take(id)
  has(t, await read(id), { status: 'queued' }, 'the job of the first time')
  t.same(reported(await move(id, { sendAt: ahead(-1) })), [422, '/sendAt in_the_past'])
  has(t, await move(id, { sendAt: 'soon' }), { status: 400, body: { error: 'validation_error' } })
  has(t, await move(id, {}), { status: 200, body: { sendAt: clock.now().toISOString() } })
  await take(id)
  has(t, await read(id), { status: 'succeeded', creditsCharged: 2 })
  t.same((await timeline(id)).filter((entry) => entry === 'moved').length, 2)
  has(t, await move(id, { sendAt: ahead(hour) }), { status: 409 })
  const { body: { data } } = await send('GET', '/api/v1/audit?limit=5')
  t.ok(
    (data as { action: string, facts: object }[]).some(({ action, facts }) =>
      action === 'dispatch.moved' && JSON.stringify(facts) === JSON.stringify({ sendAt: later })
    )
  )
})

await t.test('those that wait for their time are listed, and left out', async (t) => {
  const { body: { dispatchId: id } } = await text({ sendAt: ahead(hour) })
  const listed = async (query: string): Promise<string[]> =>
    (await send('GET', `/api/v1/dispatches?limit=100&${query}`, { headers })).body.data.map(({ dispatchId }: { dispatchId: string }) =>
      dispatchId
    )
  t.same(await listed('scheduled=true'), [id])
  t.notOk((await listed('scheduled=false')).includes(id))
  await send('POST', `/api/v1/dispatches/${id}/cancel`)
  t.same(await listed('scheduled=true'), [])
})

await t.test('what cannot be kept is refused before anything is recorded; a validation says so, too, and when it is sent', async (t) => {
  for (const [more, problem] of [
    [{ sendAt: ahead(-60) }, '/sendAt in_the_past'],
    [{ sendAt: ahead(367 * 24 * hour) }, '/sendAt too_late'],
    [{ sendAt: '2026-03-29T02:30', timeZone: 'Europe/Paris' }, '/sendAt no_such_time'],
    [{ sendAt: '2026-04-01T02:30' }, '/timeZone required'],
    [{ notBefore: '09:00', notAfter: '09:00' }, '/notAfter contradiction']
  ] as const) {
    t.same(reported(await text(more)), [422, problem])
    t.same(reported(await text(more, '/validate')), [422, problem])
  }
  const mail = { from: 'demo@example.com', to: 'ada@example.com', subject: 'Hello', body: 'Hello' }
  const mailed = (more: object): Promise<Answer> => send('POST', '/api/email/validate', { body: { ...mail, ...more }, headers })
  t.same(reported(await mailed({ hours: 'usual' })), [422, '/hours not_supported'])
  t.same(reported(await mailed({ notBefore: '23:00' })), [422, '/timeZone required'])
  has(t, await mailed({ notBefore: '23:00', timeZone: 'UTC' }), { body: { sendAt: '2026-03-14T23:00:00.000Z' } })
  has(t, await text({ sendAt: '2026-03-29T03:30', timeZone: 'Europe/Paris' }, '/validate'), {
    status: 200,
    body: { sendAt: '2026-03-29T01:30:00.000Z', warnings: [] }
  })
  const before = await send('POST', '/api/sms', { body: { sms, sendAt: ahead(hour) } })
  has(t, before, { status: 400, body: { error: 'validation_error', details: [{ path: '/sendAt' }] } }, 'version 1.0.1 has no such field')
})

await t.test('an SMS keeps the quiet hours of its country, and a letter the cut-off time of a working day', async (t) => {
  const at = async (body: object, path = 'sms'): Promise<string> =>
    (await send('POST', `/api/${path}/validate`, { body, headers })).body.sendAt as string
  const sendAt = '2026-03-21T20:30:00Z'
  t.equal(await at({ sms, sendAt, hours: 'usual' }), '2026-03-23T07:00:00.000Z', 'not on a Saturday night, nor on a Sunday')
  t.equal(await at({ sms: { ...sms, phoneNumber: '+447400123456' }, sendAt, hours: 'usual' }), '2026-03-22T08:00:00.000Z')
  t.equal(await at({ sms, sendAt, notBefore: '10:15' }), sendAt.replace('Z', '.000Z'))
  t.equal(await at({ sms, sendAt, notBefore: '10:15', notAfter: '12:00' }), '2026-03-22T09:15:00.000Z', 'by the clocks of its country')
  const postal = {
    template: (invoiceRequest() as { template: object }).template,
    postal: { recipient: { name: 'Ada', address: '1 rue', city: 'Paris', postalCode: '75002', country: 'FR' } }
  }
  t.equal(await at({ ...postal, sendAt: '2026-03-20T13:30:00Z', hours: 'usual' }, 'postal'), '2026-03-22T23:00:00.000Z',
    'after two on a Friday: on Monday')
  t.equal(await at({ ...postal, sendAt: '2026-03-20T12:30:00Z', hours: 'usual' }, 'postal'), '2026-03-20T12:30:00.000Z')
})

await t.test('within its hours a dispatch does not wait, and its client gets the result', async (t) => {
  const { status, body } = await text({ notBefore: '00:00', notAfter: '23:59' })
  t.equal(status, 200)
  has(t, body, { status: 'succeeded' })
})

await t.test('hours are kept by a queue that is late, and by a retry', async (t) => {
  const evening = '2026-03-16T18:59:30Z'
  const { body: { dispatchId: late } } = await text({ hours: 'usual' }, '?async=true')
  t.notOk('sendAt' in await read(late), 'it is within the hours, and waits for nothing')
  const { body: { dispatchId: retried } } = await text({
    sms: { ...sms, phoneNumber: '+15005550002' },
    sendAt: evening,
    timeZone: 'Europe/Paris',
    notBefore: '08:00',
    notAfter: '20:00'
  })
  const before = await credits()
  clock.advance(12 * hour)
  await take(late)
  const monday = '2026-03-16T07:00:00.000Z'
  has(t, await read(late), { status: 'queued', sendAt: monday, nextTryAt: monday, steps: [{ status: 'planned' }] })
  t.strictSame(await credits(), before, 'what was held stays held')
  clock.advance((Date.parse(evening) - clock.now().getTime()) / 1000)
  await take(retried)
  has(t, await read(retried), { status: 'queued', steps: [{ status: 'unavailable' }] })
  await take(late)
  has(t, await read(late), { status: 'succeeded', creditsCharged: 2 })
  clock.advance(60)
  await take(retried)
  const morning = '2026-03-17T07:00:00.000Z'
  has(t, await read(retried), { status: 'queued', sendAt: morning, nextTryAt: morning, steps: [{ status: 'unavailable' }] })
  t.same(await timeline(retried), ['planned', 'calling sms', 'answered sms', 'moved'])
  clock.advance(12 * hour)
  for (let tries = 0; tries < 2; tries++) {
    await take(retried)
    clock.advance(60)
  }
  has(t, await read(retried), { status: 'succeeded', creditsCharged: 2 })
})

await t.test('what may pass by itself keeps it waiting: an adapter that is not loaded in this process', async (t) => {
  const before = await credits()
  const { body: { dispatchId: id } } = await text({ sendAt: ahead(hour) })
  clock.advance(hour)
  const dependencies = app.get('pipelineParts')
  const elsewhere = createRunner({ ...dependencies, host: { ...dependencies.host, find: () => undefined } }, { limit: 10 })
  await Promise.all((await elsewhere.beginQueued([{ companyId, dispatchId: id as string }])).map(({ ended }) => ended))
  has(t, await read(id), { status: 'queued', steps: [{ status: 'unavailable', error: { error: 'provider_unavailable' } }] })
  t.strictSame(await credits(), before, 'nothing is held before it is checked')
  clock.advance(60)
  await take(id)
  has(t, await read(id), { status: 'succeeded', creditsCharged: 2 })
  t.strictSame(await credits(), { ...before, balance: before.balance - 2 })
})

await t.test('what waits for its time is no backlog', async (t) => {
  const { body: { dispatchId: id } } = await text({ sendAt: ahead(hour) })
  has(t, (await readBacklog(database)).dispatches, { queued: 0, oldest: null })
  clock.advance(hour + 5)
  const { dispatches: { queued } } = await readBacklog(database)
  t.equal(queued, 1)
  await take(id)
})

await t.test('a document that is deleted before a dispatch is due is refused beforehand, and when that is moved', async (t) => {
  const { body: { generatedDocument: { id: documentId } } } = await send('POST', '/api/file', {
    body: { template: (invoiceRequest() as { template: object }).template }
  })
  const mail = (sendAt: string, path = ''): Promise<Answer> =>
    send('POST', `/api/email${path}`, {
      body: { from: 'demo@example.com', to: 'ada@example.com', subject: 'Hello', body: 'Hello', attachments: [{ documentId }], sendAt },
      headers
    })
  const late = ahead(40 * 24 * hour)
  for (const path of ['', '/validate']) t.same(reported(await mail(late, path)), [422, '/attachments/0/documentId expires_before'])
  const { status, body: { dispatchId: id } } = await mail(ahead(20 * 24 * hour))
  t.equal(status, 200)
  t.same(reported(await move(id as string, { sendAt: late })), [422, '/email/attachments/0/documentId expires_before'])
  t.equal((await send('POST', `/api/v1/dispatches/${String(id)}/cancel`)).status, 200)
})

await t.test('version 1.0.1 shows nothing of it', async (t) => {
  const { body: { dispatchId: id } } = await text({ sendAt: ahead(hour) })
  await move(id as string, { sendAt: ahead(2 * hour) })
  const { body } = await send('GET', `/api/v1/dispatches/${String(id)}`)
  for (const field of ['sendAt', 'schedule']) t.notOk(field in body, field)
  const { body: { data } } = await send('GET', `/api/v1/dispatches/${String(id)}/events`)
  t.strictSame((data as { kind: string, facts: object }[]).map(({ kind, facts }) => [kind, Object.keys(facts)]), [['planned', ['price']]])
  has(t, await send('GET', '/api/v1/dispatches?scheduled=true'), {
    status: 400,
    body: { details: [{ path: '/query/scheduled', code: 'unknown_field' }] }
  })
  has(t, await send('POST', `/api/v1/dispatches/${String(id)}/cancel`), { status: 200 })
})

await t.test('a revoked key, and a disabled impersonator, end what they have scheduled', async (t) => {
  const { body: { key, id: keyId } } = await send('POST', '/api/v1/keys', { body: { name: 'leaked', mode: 'live', scopes: ['send'] } })
  const keyed = { ...headers, authorization: `Bearer ${String(key)}` }
  const byKey = await send('POST', '/api/sms', { body: { sms, sendAt: ahead(hour) }, headers: keyed }, null)
  t.equal(byKey.status, 200)
  const { member } = await service.company('helpers')
  const impersonated = await text({ sendAt: ahead(hour) })
  const ids = [byKey, impersonated].map(({ body }) => String(body.dispatchId))
  await sql`update dispatches set impersonator_id = (select user_id from users where email = ${member.email})
    where dispatch_id = ${ids[1]}`.execute(database.owner)
  await sql`update users set disabled_at = now() where email = ${member.email}`.execute(database.owner)
  t.equal((await send('DELETE', `/api/v1/keys/${String(keyId)}`)).status, 204)
  clock.advance(hour)
  for (const id of ids) {
    await take(id)
    has(t, await read(id), {
      status: 'failed',
      creditsCharged: 0,
      steps: [{ error: { error: 'forbidden', message: /API key or the person/ } }]
    })
  }
})

await t.test('what has changed by the time that it is due ends it, with a callback, and costs nothing', async (t) => {
  const before = await credits()
  const callbackUrl = 'https://client.example/done'
  /** Fails for a reason; `undone` makes it possible again. */
  async function fails (
    name: string,
    body: object,
    path: string,
    change: () => Promise<unknown>,
    error: { error: string, message?: string }
  ): Promise<void> {
    const answer = await send('POST', `/api/${path}`, { body: { ...body, callbackUrl, sendAt: ahead(hour) }, headers })
    t.equal(answer.status, 200, JSON.stringify(answer.body))
    const id = answer.body.dispatchId as string
    await change()
    clock.advance(hour)
    await take(id)
    has(t, await read(id), { status: 'failed', creditsCharged: 0, steps: [{ status: 'rejected', error }] }, name)
    t.same(await callbacks(id), ['dispatch.failed'], name)
    t.same(await timeline(id), ['planned', `failed ${path}`], name)
    t.strictSame(await credits(), before, name)
  }
  const template = await send('POST', '/api/v1/templates', { body: letter({ name: 'Gone soon' }) })
  const templateId = template.body.id as number
  await send('POST', `/api/v1/templates/${templateId}/publish`, { body: { version: 1 } })
  await fails('a template that was removed', { template: { id: templateId, data: { name: 'Ada' } } }, 'file',
    () => send('DELETE', `/api/v1/templates/${templateId}`), { error: 'template_not_found' })
  await fails('a recipient who wants no more', { sms }, 'sms',
    () => send('POST', '/api/v1/suppressions', { body: { channel: 'sms', address: sms.phoneNumber }, headers }), { error: 'suppressed' })
  const other = { ...sms, phoneNumber: '+33612345679' }
  const { balance } = before
  const grant = (amount: number): Promise<Answer> =>
    send('POST', `/api/v1/companies/${companyId}/credits`, { body: { amount, reason: 'A test.' } }, operator)
  await fails('credits that were spent', { sms: other }, 'sms', async () => {
    await grant(1 - balance)
    before.balance = 1
  }, { error: 'insufficient_credits' })
  await grant(balance - 1)
  before.balance = balance
  await fails('a configuration that was removed', { sms: other }, 'sms', () => send('DELETE', '/api/v1/company/providers/simulator'), {
    error: 'configuration_missing',
    message: 'The configuration of the provider "simulator" was removed.'
  })
})
