import t from 'tap'
import { createVendor, vendorNetwork } from '../../core/packages/conformance/vendor/vendor.ts'
import { idAt } from '../../core/packages/database/id-times.ts'
import { languages } from '../../plugins/console/language/language.ts'
import { until } from '../core/work/support.ts'
import { contains, has, lacks } from '../support/matching.ts'
import { type Login, startService } from '../support/service.ts'
import { openConsole } from './support/console.ts'

const vendor = await createVendor()
const service = await startService(t, { config: { keepsRequestLog: true }, replacements: { network: vendorNetwork(vendor) } })
t.teardown(vendor.close)
const { send } = service
const acme = await service.company('acme', { credits: 10 })
const secret = 'f0e1d2c3b4a5968778695a4b3c2d1e0f'
const settings = { accountSid: `AC${'a'.repeat(32)}`, authToken: secret, from: '+15005550006' }
await send('PUT', '/api/v1/company/providers/twilio', { body: { settings } }, acme.admin)

async function dispatched (message: string): Promise<string> {
  const body = { providerName: 'twilio', sms: { phoneNumber: '+33612345678', message } }
  return (await send('POST', '/api/sms', { body }, acme.admin)).body.dispatchId as string
}

/** The calls of a dispatch, once they are in the log. */
async function callsOf (dispatchId: string, login: Login = acme.admin): Promise<any[]> {
  const read = async (): Promise<any> => (await send('GET', `/api/v1/dispatches/${dispatchId}/calls`, {}, login)).body
  await until('the call is in the log', async () => (await read()).data?.length > 0)
  return (await read()).data
}

await t.test('what a provider has sent and its vendor answered is read by admins, without secrets', async (t) => {
  vendor.answer({ status: 201, body: Buffer.from(JSON.stringify({ sid: 'SM1', status: 'queued' })) })
  const accepted = await dispatched('Hello')
  vendor.answer({ status: 400, body: Buffer.from(JSON.stringify({ code: 21_211, message: `No number of ${secret}` })) })
  const refused = await dispatched('Again')
  has(t, await callsOf(accepted), [{
    service: 'sms',
    providerName: 'twilio',
    outcome: 'accepted',
    exchanges: [{
      method: 'POST',
      url: `https://api.twilio.com/2010-04-01/Accounts/${settings.accountSid}/Messages.json`,
      headers: { authorization: 'Basic [redacted]', 'content-type': 'application/x-www-form-urlencoded' },
      body: /^To=%2B33612345678&From=%2B15005550006&StatusCallback=https%3A%2F%2F[^&]+&Body=Hello$/,
      status: 201,
      answer: '{"sid":"SM1","status":"queued"}',
      milliseconds: Number
    }]
  }])
  const [call] = await callsOf(refused)
  has(t, call, { outcome: 'rejected', exchanges: [{ status: 400, answer: '{"code":21211,"message":"No number of [redacted]"}' }] })
  lacks(t, JSON.stringify(call), secret)
  const { open, signIn } = openConsole(service)
  const page = (await open(`/dispatches/${refused}`, await signIn(acme.admin))).body
  contains(t, page, languages.en.vendorCalls)
  contains(t, page, 'No number of [redacted]')
  lacks(t, (await open(`/dispatches/${refused}`, await signIn(acme.member))).body, 'No number of [redacted]&quot;}')
  t.equal((await send('GET', `/api/v1/dispatches/${refused}/calls`, {}, acme.member)).status, 403)
  t.equal((await send('GET', `/api/v1/dispatches/${refused}/calls`, {}, (await service.company('other')).admin)).status, 404)
})

await t.test('the page shows the last calls, and says where the others are', async (t) => {
  vendor.answer({ status: 201, body: Buffer.from(JSON.stringify({ sid: 'SM1', status: 'queued' })) })
  const dispatchId = await dispatched('Often')
  await callsOf(dispatchId)
  const { open, signIn } = openConsole(service)
  const cookie = await signIn(acme.admin)
  const { owner } = service.app.get('database')
  const call = await owner.selectFrom('exchange_log').selectAll().where('dispatch_id', '=', dispatchId).executeTakeFirstOrThrow()
  const again = (count: number): Promise<unknown> =>
    owner.insertInto('exchange_log').values(Array.from({ length: count }, () => ({
      ...call,
      entry_id: idAt(Date.now()),
      exchanges: JSON.stringify(call.exchanges)
    } as never))).execute()
  await again(2)
  const all = (await open(`/dispatches/${dispatchId}`, cookie)).body
  contains(t, all, languages.en.vendorCalls)
  lacks(t, all, languages.en.vendorCallsMore)
  await again(1)
  contains(t, (await open(`/dispatches/${dispatchId}`, cookie)).body, languages.en.vendorCallsMore)
})

await t.test('long texts are cut off, and what no vendor has answered is said', async (t) => {
  vendor.answer({ status: 500, body: Buffer.from('x'.repeat(9_000)) })
  const [call] = await callsOf(await dispatched('é'.repeat(1_000)))
  const [{ body, answer, status, failure }] = call.exchanges
  t.equal(status, 500)
  t.equal(answer, `${'x'.repeat(4_000)}…`)
  t.ok(body.length === 4_001 && body.endsWith('…'))
  t.ok(failure)
})

await t.test('a dispatch whose provider asks nobody has no calls', async (t) => {
  const { body: { dispatchId } } = await send('POST', '/api/sms', {
    body: { sms: { phoneNumber: '+33612345678', message: 'Hello' } }
  })
  t.same((await send('GET', `/api/v1/dispatches/${String(dispatchId)}/calls`)).body, { data: [], nextCursor: null })
})
