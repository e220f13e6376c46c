import { sql } from 'kysely'
import t from 'tap'
import { languages } from '../../../../../plugins/console/language/language.ts'
import { until } from '../../../../../test/core/work/support.ts'
import { openConsole } from '../../../../../test/plugins/support/console.ts'
import { contains, has, lacks } from '../../../../../test/support/matching.ts'
import { quickRenderer } from '../../../../../test/support/quick-renderer.ts'
import { type Answer, invoiceRequest, startService } from '../../../../../test/support/service.ts'
import { createVendor, vendorNetwork } from '../../../conformance/vendor/vendor.ts'
import { noteFeedEvent } from '../store/event-feeds.ts'
import { words } from '../words.en.ts'

const en = { ...languages.en, ...words }
const receiver = await createVendor()
t.teardown(receiver.close)
receiver.answer(({ host }) => ({ status: host === 'gone.acme.test' ? 410 : 200 }))
const service = await startService(t, {
  config: { keepsRequestLog: true },
  replacements: { renderer: quickRenderer, network: vendorNetwork(receiver) }
})
const { send } = service
const { confirm, open, post, signIn } = openConsole(service)
const acme = await service.company('acme')
const [cookie, asMember, theirs] = [await signIn(acme.admin), await signIn(acme.member),
  await signIn((await service.company('other')).admin)]
const at = '/developers/endpoints'
const secretPattern = /whsec_[\w+/]+=*/
const form = { name: 'Accounting', url: 'https://a.acme.test/hook', allTypes: 'true', enabled: 'true' }

const endpoints = async (): Promise<any[]> => (await send('GET', '/api/v1/company/callback-endpoints', {}, acme.admin)).body.data
const make = async (fields: object = {}): Promise<Answer> =>
  post(at, { newest: (await endpoints()).at(-1)?.id ?? '', ...form, ...fields }, cookie)

await t.test('an endpoint is made and its secret shown once; a form that is sent again makes no other', async (t) => {
  contains(t, (await open('/developers', cookie)).body, `/console${at}`)
  lacks(t, (await open('/developers', asMember)).body, `/console${at}`)
  contains(t, (await open(at, cookie)).body, en.endpointsNone)
  const fields = { newest: '', ...form }
  const made = await post(at, fields, cookie)
  t.equal(made.status, 200)
  const secret = secretPattern.exec(made.body)?.[0] ?? ''
  const again = await post(at, fields, cookie)
  t.equal(again.status, 409)
  contains(t, again.body, 'already made the endpoint “Accounting”')
  const [{ id }, ...others] = await endpoints() as [any]
  t.same(others, [])
  const { body } = await open(`${at}/${id as string}`, cookie)
  contains(t, body, 'value="https://a.acme.test/hook"')
  for (const shown of [again.body, body, service.log.join('\n')]) lacks(t, shown, secret)
})

await t.test('what the API refuses is said at its field; nobody else reaches an endpoint', async (t) => {
  const refused = await make({ name: '"><b>', url: 'https://10.0.0.1/' })
  t.equal(refused.status, 422)
  contains(t, refused.body, /id="f-url"[^>]*value="https:\/\/10\.0\.0\.1\/"[^>]*aria-invalid="true"/)
  contains(t, refused.body, 'value="&quot;&gt;&lt;b&gt;"')
  t.equal((await make({ name: 'B', allTypes: '' })).status, 400, 'none of the types')
  const [{ id }] = await endpoints() as [any]
  for (const end of ['', '/secret', '/test', '/resend', '/pause', '/remove']) {
    t.equal((await post(`${at}/${id as string}${end}`, form, theirs)).status, 404, end)
    t.equal((await post(`${at}/${id as string}${end}`, form, asMember)).status, 403, end)
    t.equal((await post(`${at}/${id as string}${end}`, form, cookie, { 'sec-fetch-site': 'cross-site' })).status, 403, end)
  }
  t.equal((await endpoints()).length, 1)
})

await t.test('it is changed, tested, and given another secret', async (t) => {
  const [{ id }] = await endpoints() as [any]
  const own = `${at}/${id as string}`
  const chosen: [string, string][] = [['name', 'Books'], ['url', 'https://b.acme.test/'], ['type', 'dispatch.failed'], ['type',
    'dispatch.succeeded'], ['enabled', 'true']]
  t.equal((await post(own, chosen, cookie)).headers.get('location'), `/console${own}?saved=1`)
  has(t, await endpoints(), [{ name: 'Books', url: 'https://b.acme.test/', types: ['dispatch.failed', 'dispatch.succeeded'] }])
  const { body } = await open(`${own}?saved=1`, cookie)
  contains(t, body, en.endpointSaved)
  contains(t, body, 'value="dispatch.failed" checked')
  contains(t, (await post(`${own}/test`, {}, cookie)).body, 'answer 200 after')
  const newest = /name="newest" value="([^"]*)"/.exec(body)?.[1] ?? ''
  const made = await confirm(`${own}/secret`, { newest }, cookie)
  contains(t, made.body, en.callbackSecretUntil)
  contains(t, made.body, secretPattern)
  const again = await confirm(`${own}/secret`, { newest }, cookie)
  t.equal(again.status, 409)
  lacks(t, again.body, secretPattern)
  t.equal((await endpoints())[0].secrets.length, 2)
})

await t.test('what was sent is listed with its attempts; one is sent again, and all that failed', async (t) => {
  await make({ name: 'Gone', url: 'https://gone.acme.test/' })
  const { id } = (await endpoints()).at(-1)
  const own = `${at}/${id as string}`
  const callbacks = async (): Promise<any[]> =>
    (await send('GET', `/api/v1/company/callback-endpoints/${id as string}/callbacks`, {}, acme.admin)).body.data
  await send('POST', '/api/invoicing?async=true', { body: invoiceRequest() }, acme.admin)
  await until('it is stopped', async () => (await callbacks())[0]?.state === 'stopped')
  const { body } = await open(`${own}?state=stopped`, cookie)
  for (const part of ['dispatch.succeeded', 'It answered 410 instead of 200.', en.endpointFailing]) contains(t, body, part)
  contains(t, (await open(`${own}?state=failed`, cookie)).body, en.endpointCallbacksNone)
  const [{ id: callbackId, dispatchId }] = await callbacks() as [any]
  contains(t, body, `/console/dispatches/${dispatchId as string}`)
  t.equal((await post(`${own}/callbacks/${callbackId as string}`, {}, cookie)).headers.get('location'), `/console${own}?sent=1`)
  await until('it is stopped again', async () => (await callbacks())[0]?.attempts[1]?.outcome === 'stopped')
  const ticked = { [`row-${callbackId as string}`]: callbackId as string, 'row-x': 'x' }
  const many = await post(`${own}/chosen/send`, ticked, cookie)
  contains(t, many.body, 'Done: 1 of 2.')
  contains(t, many.body, `href="/console${own}"`)
  await until('it is stopped once more', async () => (await callbacks())[0]?.attempts[2]?.outcome === 'stopped')
  const since = { since: new Date().toISOString().slice(0, 10) }
  contains(t, (await post(`${own}/resend`, since, cookie)).body, `<dt>${en.endpointNotReceived}</dt><dd>1</dd>`, 'it is asked')
  const { owner } = service.app.get('database')
  const { rows: [kept] } = await sql<{ body: string }>`select body from outbox where callback_id = ${callbackId as string}`.execute(owner)
  const keep = (text: string | null): Promise<unknown> =>
    sql`update outbox set body = ${text} where callback_id = ${callbackId as string}`.execute(owner)
  await keep(null)
  t.equal((await post(`${own}/resend`, since, cookie)).headers.get('location'), `/console${own}?queued=0`,
    'what is too old to be sent does not count')
  await keep(kept?.body ?? '')
  const resent = await confirm(`${own}/resend`, since, cookie)
  t.equal(resent.headers.get('location'), `/console${own}?queued=1`)
  contains(t, (await open(`${own}?queued=1`, cookie)).body, 'again: 1.')
  for (const none of ['yesterday', '']) t.equal((await post(`${own}/resend`, { since: none }, cookie)).status, 400, none)
  // Those about tests are listed in the console of tests.
  const { body: tested } = await send('POST', '/api/invoicing?async=true&sandbox=true', { body: invoiceRequest({ number: 'T-1' }) },
    acme.admin)
  await until('it is told of the test', async () => (await callbacks()).length === 2)
  for (const [path, of, not] of [['/test', tested.dispatchId, dispatchId], ['', dispatchId, tested.dispatchId]]) {
    const list = (await open(`${String(path)}${own}`, cookie)).body
    contains(t, list, `/dispatches/${String(of)}"`)
    lacks(t, list, `/dispatches/${String(not)}"`)
  }
  t.equal((await confirm(`${own}/remove`, {}, cookie)).headers.get('location'), `/console${at}?removed=1`)
  t.equal((await open(own, cookie)).status, 404)
})

await t.test('the events are read as programs read them, from the oldest on', async (t) => {
  contains(t, (await open(at, cookie)).body, en.eventsRead)
  const page = '/developers/events'
  contains(t, (await open(page, cookie)).body, en.eventsNone)
  const { body: { dispatchId } } = await send('POST', '/api/invoicing?async=true', { body: invoiceRequest({ number: 'E-1' }) }, acme.admin)
  await until('it is told', async () => (await open(page, cookie)).body.includes(`/console/dispatches/${String(dispatchId)}"`))
  contains(t, (await open(page, cookie)).body, '<code>dispatch.succeeded</code>')
  const long = { companyId: acme.companyId, type: 'company.credits_low', data: { name: 'long '.repeat(10_000) }, now: new Date() } as const
  await service.app.get('database').owner.transaction().execute(async (queries) => {
    for (let sequence = 1; sequence <= 20; sequence++) await noteFeedEvent(queries, { ...long, sequence })
  })
  const { body: shown } = await open(page, cookie)
  t.equal(String(shown).split('<th scope="row">').length - 1, 20)
  contains(t, shown, 'The first 4000 characters.')
  contains(t, shown, 'rel="next"')
  t.ok(String(shown).length < 150_000)
  t.equal((await open(`${page}?after=nonsense`, cookie)).status, 200)
  t.equal((await open(page, asMember)).status, 403)
})
