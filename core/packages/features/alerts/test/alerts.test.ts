import { sql } from 'kysely'
import t from 'tap'
import type { Feature } from '../../../../../plugins/features/feature.ts'
import { findFeatures } from '../../../../../plugins/features/find-features.ts'
import { until } from '../../../../../test/core/work/support.ts'
import { launchChromium, signInAt } from '../../../../../test/plugins/support/chromium.ts'
import { openConsole } from '../../../../../test/plugins/support/console.ts'
import { testProviders } from '../../../../../test/plugins/support/providers.ts'
import { contains, has, lacks, matches } from '../../../../../test/support/matching.ts'
import { quickRenderer } from '../../../../../test/support/quick-renderer.ts'
import { type Answer, type Login, shippedProviders, startService } from '../../../../../test/support/service.ts'
import { mailServer } from '../../../../../test/support/smtp.ts'
import { createVendor } from '../../../conformance/vendor/vendor.ts'
import { createNetwork } from '../../../vendor-io/network.ts'
import { createAlerts } from '../service/alerts.ts'
import { createMessenger } from '../service/messages.ts'
import { moveAlert, takeAlerts } from '../store/alerts.ts'

const providers = await testProviders(t)
let answer: 'sent' | 'broken' = 'sent'
await providers.add('teller', { of: 'sms', service: 'idempotency: { kind: \'none\' }' }, (_request, { reference }) =>
  answer === 'sent'
    ? Promise.resolve({ id: reference, status: 'sent' })
    : Promise.reject(new TypeError('Broken.')))
const mails = await mailServer(t)
const chats = await createVendor()
t.teardown(chats.close)
chats.answer({ status: 200, text: 'ok' })
const network = createNetwork({
  loopback: 'allowed',
  ca: [chats.ca, mails.ca],
  // Every name leads to one of the two.
  route: (host, port) => host.includes('mail.acme.test') ? mails.route(host, port) : chats.route(host, port)
})

let time = new Date()
const later = (minutes: number): void => {
  time = new Date(time.getTime() + minutes * 60_000)
}
// Nobody else looks; mails and callbacks are sent.
const features = (await findFeatures()).map((feature): Feature =>
  feature.name !== 'alerts' ? feature : {
    ...feature,
    bind (...given) {
      const { work: _, ...bound } = feature.bind(...given)
      return bound
    }
  }
)
const service = await startService(t, {
  config: { providerDirectories: [...providers.directories, shippedProviders] },
  features,
  replacements: { renderer: quickRenderer, network, now: () => time }
})
const { app, send } = service
const get = app.get.bind(app)
const { owner } = get('database')
const path = '/api/v1/alerts'
const late = { 'x-api-version': '1.1.0' }

/** One process of several. */
function worker () {
  const given = {
    database: get('database'),
    keyring: get('keyring'),
    network: get('network'),
    log: get('log'),
    newId: get('newId'),
    // Their clocks are three hours ahead of the database: its times count.
    now: () => new Date(get('now')().getTime() + 180 * 60_000)
  }
  const messenger = createMessenger({ ...given, linkMail: get('linkMail'), publicUrl: 'https://dispatch.example.com' })
  return createAlerts({ ...given, outbox: get('outbox'), messenger })
}
const two = [worker(), worker()] as const
/** Both look and send at the same time, a minute later. */
async function look (minutes = 1.1): Promise<void> {
  later(minutes)
  await Promise.all(two.map((one) => one.check()))
  await Promise.all(two.map((one) => one.send()))
}

let companies = 0
async function newCompany () {
  const company = await service.company(`alert${String(++companies)}`)
  await send('PUT', '/api/v1/company/providers/teller', { body: { settings: {}, sandbox: false } }, company.admin)
  const { body: { id } } = await send('POST', '/api/v1/company/callback-endpoints', { body: { name: 'A', url: 'https://a.acme.test/' } },
    company.admin)
  const reported = async (): Promise<any[]> =>
    (await owner.selectFrom('outbox').selectAll().where('endpoint_id', '=', id).orderBy('callback_id').execute())
      .map(({ type, body }) => ({ type, ...JSON.parse(body ?? '{}') })).filter(({ type }) => type.startsWith('alert.'))
  return { ...company, reported }
}
const text = (login: Login): Promise<Answer> =>
  send('POST', '/api/sms', { body: { providerName: 'teller', sms: { phoneNumber: '+33612345678', message: 'Hello' } }, headers: late },
    login)
const add = (login: Login, body: object): Promise<Answer> => send('POST', path, { body: { name: 'Watch', ...body } }, login)
const set = async (login: Login, body: object): Promise<string> => {
  const { status, body: { id, ...rest } } = await add(login, body)
  t.equal(status, 201, JSON.stringify(rest))
  return id
}
const failures = { kind: 'failures', percent: 50, least: 4, minutes: 10 }
const url = 'https://hooks.chat.test/services/very-secret'
const posted = (): any[] => chats.requests.filter(({ host }) => host === 'hooks.chat.test').map(({ body }) => JSON.parse(body.toString()))
const fill = async (login: Login, count: number, how: typeof answer): Promise<void> => {
  answer = how
  for (let number = 0; number < count; number++) await text(login)
}

await t.test('it begins once, ends once, and both processes tell it once; a flapping condition is no storm', async (t) => {
  const { admin, reported } = await newCompany()
  const id = await set(admin, { ...failures, callback: true, chat: { format: 'slack', url } })
  await fill(admin, 3, 'broken')
  await look()
  t.same(await reported(), [], 'of fewer than the least nothing is said')
  await fill(admin, 1, 'broken')
  await look()
  await look()
  has(t, await reported(), [{ type: 'alert.began', data: { alertId: id, kind: 'failures', value: 4, count: 4, trial: false } }])
  t.equal(posted().length, 1)
  matches(t, posted()[0].text, /^Alert: Watch\n4 of 4 steps of the last 10 minutes have failed\. The limit is 50 %\./)
  has(t, (await send('GET', `${path}/${id}`, {}, admin)).body, { firing: true, undelivered: [] })

  await fill(admin, 5, 'sent')
  await look()
  await look(2)
  t.equal((await reported()).length, 1, 'it is not over before 5 minutes have passed')
  await fill(admin, 8, 'broken')
  await look()
  later(10)
  await look()
  await look()
  t.equal((await reported()).length, 1, 'what comes back within them begins the count anew')
  await look(5)
  has(t, await reported(), [{ type: 'alert.began' }, { type: 'alert.ended', data: { alertId: id } }])
  t.equal(posted().length, 2)
  matches(t, posted()[1].text, /^Over: Watch\nDispatches fail: this is over\./)

  await fill(admin, 4, 'broken')
  await look()
  t.equal((await reported()).length, 2, 'it begins again no sooner than 10 minutes after its end')
  later(7)
  await fill(admin, 4, 'broken')
  await look(3)
  t.equal((await reported()).length, 3)
})

await t.test('each kind is found, and its own company alone is told', async (t) => {
  const [{ admin, reported, companyId }, other] = [await newCompany(), await newCompany()]
  await set(other.admin, { kind: 'doubt', minutes: 60, callback: true })
  await set(admin, { kind: 'provider_unavailable', least: 3, minutes: 10, callback: true })
  await set(admin, { kind: 'credits_low', credits: 1_000, callback: true })
  await set(admin, { kind: 'callbacks_failing', minutes: 60, callback: true })
  await set(admin, { kind: 'doubt', minutes: 60, callback: true })
  await set(admin, { kind: 'doubt', minutes: 60, callback: true, provider: 'another' })
  await fill(admin, 3, 'broken')
  await owner.updateTable('attempts').where('company_id', '=', companyId).set({ outcome: 'unavailable' }).execute()
  await look()
  const kinds = async (): Promise<string[]> => (await reported()).map(({ data: { kind } }) => kind).toSorted()
  t.same(await kinds(), ['credits_low', 'provider_unavailable'])
  has(t, (await reported()).find(({ data: { kind } }) => kind === 'provider_unavailable'), { data: { value: 1, providers: ['teller'] } })

  const { rows: [doubtful] } = await sql<{ step_id: string }>`update steps set status = 'uncertain', uncertain_at = ${time}
    where company_id = ${companyId} returning step_id`.execute(owner)
  t.ok(doubtful)
  await sql`update dispatches set status = 'uncertain' where company_id = ${companyId}`.execute(owner)
  // Nothing is delivered to it, which would end that it fails.
  const { body: { id: failing } } = await send('POST', '/api/v1/company/callback-endpoints', {
    body: { name: 'B', url: 'https://b.acme.test/', types: ['batch.finished'] }
  }, admin)
  await owner.updateTable('callback_endpoints').where('endpoint_id', '=', failing).set({ failing_since: time }).execute()
  await look(30)
  t.equal((await kinds()).length, 2)
  await look(31)
  const begun = (await reported()).filter(({ type }) => type === 'alert.began').map(({ data: { kind } }) => kind)
  t.same(begun.toSorted(), ['callbacks_failing', 'credits_low', 'doubt', 'provider_unavailable'])
  t.same(await other.reported(), [])
})

await t.test('mails go to people of the company, once each, and are tried again; chats are too, and are given up at last', async (t) => {
  const keeper = await service.company('keeper')
  const settings = { host: 'mail.acme.test', user: 'user', password: 'password', allowedSenders: ['@acme.test'] }
  await send('PUT', '/api/v1/company/providers/smtp', { body: { settings } }, keeper.admin)
  const { admin, member, companyId } = await newCompany()
  await send('PUT', `/api/v1/companies/${String(companyId)}/domains`, { body: { domains: ['watch.test'] } }, keeper.operator)
  const strange = await add(admin, { kind: 'credits_low', credits: 500, emails: [keeper.admin.email, 'a@watch.test'] })
  has(t, strange, { status: 422, body: { details: [{ path: '/emails/0', code: 'not_own_address' }] } })
  t.equal(strange.body.details.length, 1)
  const id = await set(admin, {
    kind: 'credits_low',
    credits: 500,
    language: 'fr',
    emails: [admin.email, member.email, 'a@watch.test'],
    chat: { format: 'teams', url }
  })
  chats.requests.length = 0
  chats.answer({ status: 404 })
  await look()
  has(t, (await send('GET', `${path}/${id}`, {}, admin)).body, { firing: true, undelivered: ['chat', 'mail'] })
  const sender = { providerName: 'smtp', from: 'hello@acme.test' }
  t.equal((await send('PUT', '/api/v1/link-mail', { body: sender }, keeper.operator)).status, 200)
  const { data: users } = (await send('GET', '/api/v1/users', {}, admin)).body
  const left = users.find(({ email }: any) => email === member.email).id as string
  t.equal((await send('PUT', `/api/v1/users/${left}`, { body: { disabled: true } }, admin)).status, 200)
  await look(3)
  await look(5)
  const subjects = await send('GET', `/api/v1/dispatches?metadata[mail]=message&metadata[company]=${String(companyId)}`, {},
    keeper.operator)
  t.equal(subjects.body.data.length, 2, 'whoever has left gets nothing')
  chats.answer({ status: 202 })
  await until('the mails are there', () => mails.mails.length === 2)
  t.same(mails.mails.flatMap(({ to }) => to).toSorted(), ['a@watch.test', admin.email].toSorted())
  matches(t, mails.mails[0]!.source, /^Subject: Alerte : Watch\r$/m)
  await look(16)
  has(t, (await send('GET', `${path}/${id}`, {}, admin)).body, { undelivered: [] })
  const [card] = posted().slice(-1)
  has(t, card, {
    type: 'message',
    attachments: [{
      contentType: 'application/vnd.microsoft.card.adaptive',
      contentUrl: null,
      content: {
        version: '1.4',
        actions: [{ type: 'Action.OpenUrl', title: 'Ouvrir l’alerte', url: `https://dispatch.example.com/console/alerts/${id}` }]
      }
    }]
  })
  matches(t, JSON.stringify(card), /Alerte : Watch.*100 crédits sont disponibles\. La limite est de 500\./)

  chats.answer({ status: 500 })
  await send('POST', `/api/v1/companies/${String(companyId)}/credits`, {
    body: { amount: 1_000, reason: 'More' },
    headers: {
      'idempotency-key': 'more'
    }
  }, keeper.operator)
  await look()
  await look(6)
  for (let tries = 0; tries < 8; tries++) await look(2 ** tries + 1)
  const { rows } = await sql`select from alert_messages where alert_id = ${id}`.execute(owner)
  t.equal(rows.length, 0, 'after 8 tries nobody tries any more')
  has(t, (await send('GET', `${path}/${id}`, {}, admin)).body, { firing: false, undelivered: ['chat'] })
})

await t.test('what a look has found counts no more once somebody has changed the alert', async (t) => {
  const { admin, reported } = await newCompany()
  const id = await set(admin, { kind: 'credits_low', credits: 500, callback: true })
  later(2)
  const [row] = (await takeAlerts(get('database'), 100)).filter(({ alert_id: one }) => one === id)
  t.equal((await takeAlerts(get('database'), 100)).length, 0, 'what one process looks at, no other does')
  await send('PUT', `${path}/${id}`, { body: { name: 'Watch', kind: 'credits_low', credits: 1, callback: true } }, admin)
  await moveAlert(get('database'), row!, { isMet: true, facts: { value: 1 } }, () => Promise.reject(new Error('It is told.')))
  await look()
  t.same(await reported(), [])
})

await t.test('a chat is secret and public; what does not belong together is refused; a trial says what came of it', async (t) => {
  const { admin, member, reported } = await newCompany()
  const other = await newCompany()
  for (const bad of ['http://hooks.chat.test/', 'https://10.0.0.1/', 'https://user:word@hooks.chat.test/', 'https://[fd00::1]/']) {
    const { status } = await add(admin, { kind: 'doubt', minutes: 60, chat: { format: 'slack', url: bad } })
    t.ok(status === 400 || status === 422, `${bad}: ${String(status)}`)
  }
  for (const [body, at] of [
    [{ kind: 'doubt', callback: true }, '/minutes'],
    [{ kind: 'doubt', minutes: 60, credits: 1, callback: true }, '/credits'],
    [{ kind: 'credits_low', credits: 1, provider: 'teller', callback: true }, '/provider'],
    [{ kind: 'doubt', minutes: 60 }, '/emails'],
    [{ kind: 'doubt', minutes: 60, chat: { format: 'slack' } }, '/chat/url']
  ] as const) has(t, await add(admin, body), { status: 422, body: { details: [{ path: at }] } })
  t.equal((await add(member, { kind: 'doubt', minutes: 60, callback: true })).status, 403)

  const body = { name: 'Watch <!channel>', kind: 'doubt', minutes: 60, callback: true, chat: { format: 'slack' } }
  const made = await send('POST', path, { body: { ...body, chat: { format: 'slack', url } } }, admin)
  has(t, made, { status: 201, body: { chat: { format: 'slack', host: 'hooks.chat.test' }, firing: false, since: null } })
  const id = made.body.id as string
  t.equal((await send('PUT', `${path}/${id}`, { body }, admin)).status, 200, 'the address stays')
  chats.requests.length = 0
  chats.answer({ status: 200, text: 'ok' })
  has(t, await send('POST', `${path}/${id}/try`, {}, admin), {
    status: 200,
    body: { results: [{ way: 'chat', sent: true }, { way: 'callback', sent: true }] }
  })
  matches(t, posted()[0].text, /^Trial: Watch &lt;!channel&gt;\nSomebody tries this alert/)
  has(t, await reported(), [{ type: 'alert.began', data: { trial: true } }])
  t.equal((await send('POST', `${path}/${id}/try`, {}, admin)).status, 409)
  later(2)
  chats.answer({ status: 404 })
  has(t, await send('POST', `${path}/${id}/try`, {}, admin), {
    body: { results: [{ way: 'chat', sent: false, reason: 'The receiver answered 404.' }, { way: 'callback', sent: true }] }
  })
  const stored = await sql<{ row: string }>`select row::text from alerts as row`.execute(owner)
  lacks(t, JSON.stringify([stored.rows, made.body, (await send('GET', path, {}, admin)).body, service.log]), 'very-secret')
  for (const [method, end] of [['GET', ''], ['PUT', ''], ['DELETE', ''], ['POST', '/try']] as const) {
    const { status } = await send(method, `${path}/${id}${end}`, method === 'PUT' ? { body } : {}, other.admin)
    t.equal(status, 404, `${method}${end}`)
  }
  const more = await Promise.all(Array.from({ length: 20 }, () => add(admin, { kind: 'doubt', minutes: 60, callback: true })))
  t.equal(more.filter(({ status }) => status === 201).length, 19)
  has(t, more.find(({ status }) => status !== 201), { status: 409, body: { message: /at most 20 alerts/ } })
})

await t.test('the pages set, change, try and remove an alert, and show no secret', async (t) => {
  const { admin } = await newCompany()
  const console = openConsole(service)
  const cookie = await console.signIn(admin)
  const form = { name: 'Doubts', kind: 'doubt', 'doubt.minutes': '60', emails: admin.email, format: 'slack', url }
  matches(t, (await console.open('/company', cookie)).body, /href="\/console\/alerts"/)
  matches(t, (await console.open('/alerts', cookie)).body, /There is no alert/)
  const wrong = await console.post('/alerts', { ...form, 'doubt.minutes': 'many', 'failures.percent': '7' }, cookie)
  for (const typed of ['value="many"', 'value="7"', 'value="doubt" checked']) contains(t, wrong.body, typed)
  lacks(t, wrong.body, 'very-secret')
  t.equal((await console.post('/alerts', form, cookie)).status, 303)
  const [{ id }] = (await send('GET', path, {}, admin)).body.data
  const page = (await console.open(`/alerts/${id as string}`, cookie)).body
  matches(t, page, /One for hooks\.chat\.test is stored/)
  lacks(t, page, 'very-secret')
  t.equal((await console.post(`/alerts/${id as string}`, { ...form, 'doubt.minutes': '90', url: '' }, cookie)).status, 303)
  has(t, (await send('GET', `${path}/${id as string}`, {}, admin)).body, { minutes: 90, chat: { host: 'hooks.chat.test' } })
  const tried = await console.post(`/alerts/${id as string}/try`, {}, `${cookie}; __Host-console-language=fr`)
  matches(t, tried.body, /Messagerie\s: non envoyé (?:Le destinataire a répondu|«)/)
  lacks(t, tried.body, '<span lang="en">', 'its reason is French')
  const another = { ...form, kind: 'credits_low', 'credits_low.credits': '5', url: '' }
  t.equal((await console.post(`/alerts/${id as string}`, another, cookie)).status, 303)
  const { body: changed } = await send('GET', `${path}/${id as string}`, {}, admin)
  has(t, changed, { kind: 'credits_low', credits: 5, minutes: undefined }, 'the kind is changed')
  matches(t, (await console.post(`/alerts/${id as string}/remove`, {}, cookie)).body, /Remove the alert “Doubts”\?/)
  t.equal((await console.post(`/alerts/${id as string}/remove`, { ':confirmed': 'true' }, cookie)).status, 303)
  t.same((await send('GET', path, {}, admin)).body.data, [])
})

await t.test('the form of an alert asks for what its kind needs, and its page leads to the list', async (t) => {
  const { admin } = await newCompany()
  const console = openConsole(service)
  const cookie = await console.signIn(admin)
  const lists = {
    failures: '/console/dispatches?status=failed',
    provider_unavailable: '/console/dispatches?stepStatus=unavailable',
    credits_low: '/console/credits',
    callbacks_failing: '/console/developers/endpoints',
    doubt: '/console/dispatches?status=uncertain'
  }
  for (const [kind, list] of Object.entries(lists)) {
    const { body } = await console.open('/alerts', cookie)
    const form = /<form method="post" action="\/console\/alerts"[^]*?<\/form>/.exec(String(body))?.[0] ?? ''
    const fields = Object.fromEntries(
      [...form.matchAll(/name="([\w.]+)"[^>]*? value="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value])
    )
    contains(t, form, admin.email, 'whoever sets it is told')
    const sent = { ...fields, kind, name: kind, emails: admin.email, 'credits_low.credits': '100' }
    t.equal((await console.post('/alerts', sent, cookie)).status, 303, `${kind}: what it offers is enough`)
    const made = (await send('GET', path, {}, admin)).body.data.at(-1)
    has(t, made, { kind })
    contains(t, (await console.open(`/alerts/${made.id as string}`, cookie)).body, `href="${list}"`)
  }
  contains(t, (await console.open('/alerts', cookie)).body, 'Calls in a row that find it away: 3 · Minutes looked back: 60')
  const own = { percent: '20', least: '10', minutes: '60', service: 'sms', provider: 'gone' }
  const filtered = {
    kind: 'failures',
    name: 'Gone',
    ...Object.fromEntries(Object.entries(own).map(([name, value]) => [`failures.${name}`, value]))
  }
  t.equal((await console.post('/alerts', { ...filtered, emails: admin.email }, cookie)).status, 303)
  const { id } = (await send('GET', path, {}, admin)).body.data.at(-1)
  const page = (await console.open(`/alerts/${id as string}`, cookie)).body
  contains(t, page, '<option value="gone" selected>', 'a provider that is not installed stays chosen')
  const failed = 'href="/console/dispatches?status=failed&amp;service=sms&amp;providerName=gone"'
  contains(t, page, failed)
  contains(t, (await console.open(`/test/alerts/${id as string}`, cookie)).body, failed, 'tests are none of what an alert is about')
})

await t.test('another kind shows its own fields, without script, and nothing that was typed goes', async (t) => {
  const browser = await launchChromium(t)
  if (browser === undefined) return t.pass('there is no Chromium on this machine', { skip: true })
  const { admin } = await newCompany()
  const context = await browser.newContext({ baseURL: service.url, locale: 'en', javaScriptEnabled: false })
  const page = await context.newPage()
  await signInAt(page, '/console/alerts', admin)
  const seen = (): Promise<string[]> =>
    page.locator('.if-chosen input:visible').evaluateAll((fields) => fields.map((field) => field.getAttribute('name') ?? ''))
  t.same(await seen(), ['failures.percent', 'failures.least', 'failures.minutes'])
  const typed = { 'name': 'Away', 'failures.percent': '7', 'url': url }
  for (const [name, text] of Object.entries(typed)) await page.fill(`[name="${name}"]`, text)
  await page.check('[name=kind][value=provider_unavailable]')
  t.same(await seen(), ['provider_unavailable.least', 'provider_unavailable.minutes'])
  for (const [name, text] of Object.entries(typed)) t.equal(await page.inputValue(`[name="${name}"]`), text)
  await page.press('[name=name]', 'Enter')
  await page.waitForURL('**/console/alerts?saved=1')
  has(t, (await send('GET', path, {}, admin)).body.data, [{ name: 'Away', kind: 'provider_unavailable', least: 3, percent: undefined }])
  await context.close()
})
