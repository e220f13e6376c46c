import t from 'tap'
import { languages } from '../../plugins/console/language/language.ts'
import { sampleOf, senderAmong } from '../../plugins/console/pages/samples.ts'
import { contains, has, lacks } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { admin, startService } from '../support/service.ts'
import { openConsole } from './support/console.ts'

const { en } = languages
const service = await startService(t, { replacements: { renderer: quickRenderer } })
const { send } = service
const { open, post, signIn } = openConsole(service)
const cookie = await signIn()
const secret = 'canary-password'
const settings = { host: 'smtp.example.com', user: 'ada', password: secret, allowedSenders: ['demo@example.com'] }
await send('PUT', '/api/v1/company/providers/smtp', { body: { settings } })
const email = { of: 'email', request: JSON.stringify(sampleOf('email')) }

await t.test('the request that a page begins with is one that the service accepts', async (t) => {
  for (const name of ['invoicing', 'esign', 'postal', 'sms', 'email', 'file']) {
    const { status, body } = await send('POST', `/api/${name}/validate`, { body: { ...sampleOf(name), providerName: 'simulator' } })
    t.same([status, body.success], [200, true], `${name} ${JSON.stringify(body)}`)
  }
})

await t.test('a sample e-mail comes from somebody whom the settings permit, the reader where they may', async (t) => {
  t.equal(senderAmong(['a@acme.example.com', '@example.com'], 'demo@example.com'), 'demo@example.com')
  t.equal(senderAmong(['a@acme.example.com', '@acme.example.com'], 'demo@example.com'), 'a@acme.example.com')
  t.equal(senderAmong(['@acme.example.com'], 'demo@example.com'), 'hello@acme.example.com')
  for (const none of [undefined, [], 'a@acme.example.com']) t.equal(senderAmong(none, 'demo@example.com'), undefined)
  await send('PUT', '/api/v1/company/providers/smtp', { body: { settings: { ...settings, allowedSenders: ['@acme.example.com'] } } })
  contains(t, (await open('/providers/smtp/try', cookie)).body, 'hello@acme.example.com')
  await send('PUT', '/api/v1/company/providers/smtp', { body: { settings } })
})

await t.test('the guide of a provider stands beside its settings, and in the API', async (t) => {
  const { status, body } = await send('GET', '/api/v1/providers/smtp/guide')
  t.equal(status, 200)
  contains(t, body.guide, /^# SMTP\n/)
  const page = (await open('/providers/smtp', cookie)).body
  contains(t, page, `<h2 id="guide">${en.guideOf.replace('{name}', 'SMTP')}</h2>`)
  contains(t, page, '<summary>At the mail server</summary><ol><li>')
  for (const code of ['nobody', '..%2Fsmtp']) t.equal((await send('GET', `/api/v1/providers/${code}/guide`)).status, 404, code)
})

await t.test('a dry run shows the requests to the vendor, without the secrets', async (t) => {
  contains(t, (await open('/providers/smtp/try', cookie)).body, 'ada@example.com')
  const { status, body } = await post('/providers/smtp/try', email, cookie)
  t.equal(status, 200)
  contains(t, body, /<code>SMTP /)
  contains(t, body, en.requestCounts)
  lacks(t, body, secret)
})

await t.test('what was written stays where it is refused, with the sentences of the API', async (t) => {
  const unreadable = await post('/providers/smtp/try', { of: 'email', request: '{"<b>' }, cookie)
  t.equal(unreadable.status, 400)
  contains(t, unreadable.body, en.tryUnreadable)
  contains(t, unreadable.body, '{&quot;&lt;b&gt;')
  for (const path of ['try', 'try/send']) {
    const refused = await post(`/providers/smtp/${path}`, { of: 'email', request: '{ "email": { "subject": "kept" } }' }, cookie)
    t.equal(refused.status, 400, path)
    contains(t, refused.body, /role="alert"/)
    contains(t, refused.body, 'kept')
  }
})

await t.test('a test dispatch is one of the test environment, and leads to its page', async (t) => {
  const { status, headers } = await post('/providers/simulator/try/send', { of: 'sms', request: JSON.stringify(sampleOf('sms')) }, cookie)
  t.equal(status, 303)
  const location = headers.get('location') ?? ''
  t.equal((await open(location.replace('/console', ''), cookie)).status, 200)
  has(t, (await send('GET', location.replace('/console/test', '/api/v1'))).body, { status: 'succeeded', steps: [{ sandbox: true }] })
})

await t.test('only an admin tries a provider, and only from the console', async (t) => {
  const { member, operator } = await service.company('others')
  for (const login of [member, operator]) {
    const other = await signIn(login)
    t.equal((await open('/providers/smtp/try', other)).status, 403)
    for (const path of ['try', 'try/send']) t.equal((await post(`/providers/smtp/${path}`, email, other)).status, 403)
  }
  t.equal((await post('/providers/smtp/try', email, cookie, { 'sec-fetch-site': 'cross-site' })).status, 403)
  t.equal((await open('/providers/nobody/try', cookie)).status, 404)
  t.equal((await open('/providers/disk/try', cookie)).status, 404, 'an upload needs a file')
  t.equal((await send('GET', '/api/v1/dispatches', {}, admin)).body.data.length, 1, 'nothing else was dispatched')
})
