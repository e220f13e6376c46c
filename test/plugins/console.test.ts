import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { errorReasons, errorTable } from '../../core/packages/contract/errors.ts'
import { editorScript } from '../../plugins/console/browser/editor.ts'
import { script } from '../../plugins/console/browser/script.ts'
import { stylesheet } from '../../plugins/console/browser/stylesheet.ts'
import { sentenceOf } from '../../plugins/console/form/sentence.ts'
import { settingsFields } from '../../plugins/console/form/settings.ts'
import { creditsOf, documentTypeName, languages, serviceNames } from '../../plugins/console/language/language.ts'
import { french } from '../../plugins/console/language/problem-sentences.ts'
import type { Reported } from '../../plugins/console/language/problems.ts'
import { sentences } from '../../plugins/console/pages/layout.ts'
import { hasNoFault } from '../hostile/support.ts'
import { contains, has, lacks } from '../support/matching.ts'
import { admin, type Answer, invoiceRequest, type Login, operator, startService, type TestService } from '../support/service.ts'
import { openConsole } from './support/console.ts'

const clock = { now: new Date('2026-03-14T09:00:00Z') }
const service = await startService(t, { replacements: { now: () => clock.now } })
const { send } = service
const { confirm, signIn, open, post } = openConsole(service)

/** What every page has. */
const ownScript = `<script type="module" src="${script.path}"></script>`

async function dispatched (more: Record<string, unknown> = {}, login: Login = admin): Promise<string> {
  return (await send('POST', '/api/invoicing', { body: invoiceRequest({}, more) }, login)).body.dispatchId as string
}

/** A page leads a reader without a session to the sign-in. */
function isSignedOut (t: Test, { status, headers }: Answer, name: string): void {
  t.same([status, headers.get('location')?.split('?', 1)[0]], [303, '/console/sign-in'], name)
}

await t.test('the languages say the same things, with the same values', (t) => {
  const placesOf = (text: string): string[] =>
    [...text.matchAll(/\{\w+\}/g)].map(([place]) => place).filter((place) => place !== '{id}').sort()
  t.same(Object.keys(languages.fr), Object.keys(languages.en))
  for (const [name, text] of Object.entries(languages.en)) {
    const other = languages.fr[name as keyof typeof languages.en]
    t.same(placesOf(other), placesOf(text), name)
    t.not(other, '', name)
    lacks(t, other, /courriel|adresse électronique/i, 'one word for one thing')
  }
  t.end()
})

await t.test('credits are counted in the plural of the language', (t) => {
  const { en, fr } = languages
  t.same([0, 1, 2].map((n) => creditsOf(en, n)), ['0 credits', '1 credit', '2 credits'])
  t.same([0, 1, 2].map((n) => creditsOf(fr, n)), ['0 crédit', '1 crédit', '2 crédits'])
  t.same([1500, 1_000_000].map((n) => creditsOf(en, n)), ['1,500 credits', '1,000,000 credits'])
  t.same([1500, 1_000_000, 1_500_000].map((n) => creditsOf(fr, n).replaceAll(/\s/g, ' ')), ['1 500 crédits', '1 000 000 crédits',
    '1 500 000 crédits'])
  t.end()
})

await t.test('services and types of documents have names in both languages; what only a plugin knows has its code', async (t) => {
  const { body: { services } } = await send('GET', '/api/v1/my/config')
  t.ok(Object.keys(services).includes('invoicing'))
  for (const words of [languages.en, languages.fr]) {
    for (const name of Object.keys(services)) t.not(serviceNames(words, [name]), name)
    for (const type of ['INVOICE', 'E_INVOICE', 'QUOTE', 'CREDIT']) t.not(documentTypeName(words, type), type)
    t.equal(documentTypeName(words, 'DUNNING'), 'DUNNING')
    t.equal(serviceNames(words, ['fax', 'sms'], ' + '), 'fax + SMS')
  }
})

await t.test('a sentence of the API is said once', (t) => {
  const one = { path: '/query/status', message: 'Expected a status.' }
  lacks(t, sentences(languages.en, { message: `${one.path}: ${one.message}`, details: [one] }).markup, '<ul>')
  const other = { path: '/query/from', message: 'Expected a date.' }
  const both = [`<li>${one.message} <code>${one.path}</code></li>`, `<li>${other.message} <code>${other.path}</code></li>`]
  contains(t, sentences(languages.en, { message: 'Two things are wrong.', details: [one, other] }).markup, '<p>Two things are wrong.</p>')
  const first =
    sentences(languages.en, { message: `${one.path}: ${one.message} And 1 more: see the details.`, details: [one, other] }).markup
  for (const problem of both) contains(t, first, problem)
  lacks(t, first, 'see the details', 'a page has all of them')
  t.end()
})

await t.test('what the API says of a mistake has words for people, in both languages; what is quoted is marked as English', (t) => {
  const said = (reported: Reported): string[] => [languages.en, languages.fr].map((words) => sentenceOf(words, reported).markup)
  t.same(said({ code: 'type', message: 'Expected integer, got string.' }), ['This must be a whole number.', 'Il faut un nombre entier.'])
  t.same(said({ code: 'required', message: 'The field "number" is required.' }), ['Fill this in.', 'À remplir.'])
  t.same(said({ code: 'enum', message: 'Expected one of "a", "b" (did you mean "b"?).' }), ['Choose one of: a, b. Did you mean “b”?',
    'Choisissez parmi\u00a0: a, b. Vouliez-vous dire «\u00a0b\u00a0»\u00a0?'])
  t.same(said({
    error: 'configuration_missing',
    message:
      'The provider "acme" has no configuration: set one with PUT /api/v1/company/providers/acme, or for yourself alone with PUT /api.'
  }), ['The provider “acme” has no settings yet.', 'Le fournisseur «\u00a0acme\u00a0» n’a pas encore de réglages.'])
  t.same(said({
    code: 'configuration_missing',
    message: 'No provider is chosen for "sms": name one in "providerName", or choose a default with PUT /api/v1/company/defaults/sms.'
  }), [
    'No provider is chosen for this: SMS. Choose one here, or for all on the page of providers.',
    'Aucun fournisseur n’est choisi pour ce service\u00a0: SMS. Choisissez-en un ici, ou pour tous à la page des fournisseurs.'
  ])
  t.same(said({ code: 'bad_image', message: 'The image is not a readable PNG file.' }), [
    'This picture cannot be read: it is not a whole PNG file.',
    'Cette image est illisible\u00a0: ce n’est pas un fichier PNG entier.'
  ])
  t.same(said({ code: 'unsupported_characters', message: 'The PDF cannot show U+202E, U+202C: there is no font for them.' }), [
    'The PDF cannot show these signs: U+202E, U+202C. There is no font for them.',
    'Le PDF ne peut pas montrer ces signes\u00a0: U+202E, U+202C. Aucune police ne les a.'
  ])
  t.same(said({ error: 'not_found', message: 'There is no step "x": GET /api/v1/queue/holds lists them.' }), [
    'There is no step &quot;x&quot;.',
    'Cet objet n’existe pas.'
  ])
  t.same(said({ code: 'vendor_4711', message: 'Nope' }), ['Nope', '<span lang="en">Nope</span>'], 'a code of a vendor')
  const codes = ['expires_before', 'in_the_future', 'unknown_rate', 'encrypted_pdf', 'unreadable_pdf']
  t.same([...Object.keys(errorTable), ...Object.keys(errorReasons), ...codes].filter((word) => !Object.hasOwn(french, word)), [],
    'each word and each reason of an error has a French sentence')
  const requested = { error: 'conflict', message: 'The company has 50 contacts, which is the most: delete one first.' }
  t.same(said({ ...requested, reason: 'at_most' })[1], 'Le nombre maximal est atteint\u00a0: supprimez-en un d’abord.')
  contains(t, said(requested)[1], '<span lang="en">The company has', 'a word that says little is followed by what the API says')
  t.same(said({ code: 'BR-S-05', message: 'The rate of S (standard rate) is above 0.' })[1],
    'Le taux de S (taux normal) est supérieur à 0.')
  t.end()
})

await t.test('a choice of the settings is called as the language of the reader has it', (t) => {
  const germany = { const: 'eu', title: 'Germany', 'x-texts': { fr: { title: 'Allemagne' } } }
  const region = { anyOf: [germany, { const: 'us', title: 'America' }] }
  const shown = (words: typeof languages.en): string =>
    settingsFields(words, { properties: { region } }, { values: {}, problems: [] }).markup
  contains(t, shown(languages.en), '<option value="eu">Germany</option>')
  contains(t, shown(languages.fr), '<option value="eu">Allemagne</option>')
  contains(t, shown(languages.fr), '<option value="us">America</option>', 'what has no other title keeps its own')
  t.end()
})

await t.test('a field of a template may be described by any word', (t) => {
  const described = { type: 'string', description: 'constructor', 'x-data': 'x' } as const
  const { markup } = settingsFields(languages.fr, { properties: { x: described } }, { values: {}, problems: [] })
  contains(t, markup, 'Constructor.')
  t.end()
})

await t.test('a reader signs in with the password, and the cookie is bound to this host', async (t) => {
  const answer = await post('/sign-in', { email: admin.email, password: admin.password, next: '/console/providers' })
  t.same([answer.status, answer.headers.get('location')], [303, '/console/providers'])
  contains(t, answer.headers.get('set-cookie'), /^__Host-console=[\w-]{43}; Path=\/; Secure; HttpOnly; SameSite=Strict$/)
})

await t.test('after the sign-in the reader goes on within the console only', async (t) => {
  for (const next of ['https://evil.example/', '//evil.example', '/console//evil.example', '/api/v1/users', '/consoles', '/console/../docs',
    'x'])
  {
    const { headers } = await post('/sign-in', { email: admin.email, password: admin.password, next })
    t.equal(headers.get('location'), '/console/begin', next)
  }
  t.equal((await open('/dispatches?status=failed', '')).headers.get('location'),
    `/console/sign-in?next=${encodeURIComponent('/console/dispatches?status=failed')}`)
})

await t.test('a refused sign-in says so in the form, without a cookie, and keeps the address that was written', async (t) => {
  const answer = await post('/sign-in', { email: 'x"><b>@example.com', password: 'wrong' })
  t.equal(answer.status, 403)
  t.equal(answer.headers.get('set-cookie'), null)
  contains(t, answer.body, 'role="alert"')
  contains(t, answer.body, languages.en.wrongCredentials)
  contains(t, answer.body, 'value="x&quot;&gt;&lt;b&gt;@example.com"')
})

await t.test('every page needs a session, and a foreign cookie is none', async (t) => {
  for (const path of ['', '/dispatches', `/dispatches/${randomUUID()}`, '/providers', '/providers/smtp', '/services/sms', '/sessions',
    '/x'])
  {
    isSignedOut(t, await open(path, ''), path)
    isSignedOut(t, await open(path, `__Host-console=${'a'.repeat(43)}`), `${path} with an unknown cookie`)
  }
  const cookie = await signIn()
  isSignedOut(t, await open('', `${cookie}; ${cookie}`), 'two cookies of the name: one of them may be planted')
})

await t.test('a sign-in makes a session of its own, whatever cookie the browser had before', async (t) => {
  const planted = '__Host-console=planted-by-somebody-else-aaaaaaaaaaaaaaaaaaa'
  const { headers } = await post('/sign-in', { email: admin.email, password: admin.password }, planted)
  t.not(headers.get('set-cookie')?.split(';', 1)[0], planted)
  isSignedOut(t, await open('', planted), 'the planted one')
})

await t.test('a session ends at the sign-out, and only this one', async (t) => {
  const [first, second] = [await signIn(), await signIn()]
  const { headers } = await post('/sign-out', {}, first)
  const names = ['__Host-console', '__Host-console-sign-in', '__Host-console-passkey', '__Host-console-sign-on']
  t.same(headers.getSetCookie().map((line) => line.replace(/; Path.*; /, ' ')), names.map((name) => `${name}= Max-Age=0`))
  t.equal(headers.get('clear-site-data'), '"cache", "storage"', 'what the browser keeps of the pages is gone')
  isSignedOut(t, await open('', first), 'the cookie is of no use any more')
  t.equal((await open('', second)).status, 200)
})

await t.test('a session ends after an hour without use, and after twelve hours', async (t) => {
  const begun = clock.now.getTime()
  const minutesLater = (minutes: number): void => {
    clock.now = new Date(begun + minutes * 60_000)
  }
  const [idle, used] = [await signIn(), await signIn()]
  minutesLater(59)
  t.equal((await open('', used)).status, 200)
  minutesLater(61)
  isSignedOut(t, await open('', idle), 'an hour without use')
  for (let minute = 110; minute < 720; minute += 50) {
    minutesLater(minute)
    t.equal((await open('', used)).status, 200, `${minute} minutes`)
  }
  minutesLater(721)
  isSignedOut(t, await open('', used), 'twelve hours')
})

await t.test('a session ends with another password, with another role, and with the user', async (t) => {
  const company = await service.company('changes')
  const { body: { data: users } } = await send('GET', '/api/v1/users', {}, company.operator)
  const { id } = users.find(({ role }: { role: string }) => role === 'member')
  const change = (body: object): Promise<Answer> => send('PUT', `/api/v1/users/${String(id)}`, { body }, company.admin)
  const changes = { role: { role: 'admin' }, password: { password: 'another password' }, disabled: { disabled: true } }
  let password = 'password'
  for (const [name, body] of Object.entries(changes)) {
    const cookie = await signIn({ ...company.member, password })
    t.equal((await open('', cookie)).status, 200)
    t.equal((await change(body)).status, 200)
    isSignedOut(t, await open('', cookie), name)
    if (name === 'password') password = 'another password'
  }
})

await t.test('a user lists and ends the own sessions, in the console and by the API', async (t) => {
  const company = await service.company('several')
  const [here, there] = [await signIn(company.admin), await signIn(company.admin)]
  const { body: { data } } = await send('GET', '/api/v1/my/sessions', {}, company.admin)
  has(t, data, [{ current: false, address: '127.0.0.1' }, { current: false }])
  const [{ id }] = data
  const page = await open('/sessions', here)
  contains(t, page.body, languages.en.sessionCurrent)
  const edge = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36 Edg/120.0'
  for (const [agent, shown] of [[edge, 'Edge 120 · Windows'], ['<b>curl</b>/8', '&lt;b&gt;curl&lt;/b&gt;/8']] as const) {
    await post('/sign-in', { email: company.admin.email, password: company.admin.password }, '', {
      'sec-fetch-site': 'same-origin',
      'user-agent': agent
    })
    contains(t, (await open('/sessions', here)).body, `>${shown}</span>`)
  }
  t.equal((await post(`/sessions/${String(id)}/end`, {}, here)).status, 303)
  isSignedOut(t, await open('', there), 'the newer one was ended')
  t.equal((await open('', here)).status, 200)
  has(t, (await send('GET', '/api/v1/audit?action=session.ended', {}, company.admin)).body.data, [{ object: { id } }])
})

await t.test('another user, another company and a key have no way to a session', async (t) => {
  const company = await service.company('foreign')
  await signIn()
  const { body: { data: [{ id }] } } = await send('GET', '/api/v1/my/sessions')
  for (const login of [company.admin, operator]) {
    t.equal((await send('DELETE', `/api/v1/my/sessions/${String(id)}`, {}, login)).status, 404)
    t.same((await send('GET', '/api/v1/my/sessions', {}, login)).body.data, [])
  }
  await signIn(company.member)
  const { body: { data: [ofMember] } } = await send('GET', '/api/v1/my/sessions', {}, company.member)
  t.equal((await send('DELETE', `/api/v1/my/sessions/${String(ofMember.id)}`, {}, company.admin)).status, 404, 'nor has a colleague')
  const { body: { key } } = await send('POST', '/api/v1/keys', { body: { name: 'Shop', mode: 'live' } })
  t.equal((await send('DELETE', `/api/v1/my/sessions/${String(id)}`, {}, { email: key, password: '' })).status, 403)
})

await t.test('a form that another site sends changes nothing', async (t) => {
  const cookie = await signIn()
  const dispatchId = await dispatched({ invoicing: { reference: 'reject' } })
  const forms = ['/sign-in', '/sign-out', '/language', '/providers/smtp', '/providers/smtp/check', '/providers/smtp/remove',
    '/services/sms', `/sessions/${randomUUID()}/end`,
    ...['cancel', 'retry', 'resolve', 'callbacks/1'].map((verb) => `/dispatches/${dispatchId}/${verb}`)]
  const ways = [{ 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }, { 'sec-fetch-site': 'none' }, {
    origin: 'https://evil.example'
  }, { origin: 'null' }, {}]
  for (const form of forms) {
    for (const headers of ways) {
      const { status, headers: answered } = await post(form, { email: admin.email, password: admin.password, to: '' }, cookie, headers)
      t.equal(status, 403, `${form} ${JSON.stringify(headers)}`)
      t.equal(answered.get('set-cookie'), null)
    }
  }
  t.equal((await open('', cookie)).status, 200, 'the session goes on')
  t.equal((await post('/language', { language: 'fr' }, cookie, { origin: service.url })).status, 303,
    'the own origin, where there is nothing else')
})

await t.test('the session is of no use at the API, and nothing that a client sends is taken for a page', async (t) => {
  const cookie = await signIn()
  const named = Object.fromEntries(['x-user-id', 'x-actor', 'x-forwarded-user', 'x-injected', 'x-principal'].map((name) => [name, '2']))
  const busy = Promise.all(Array.from({ length: 10 }, () => open('/dispatches', cookie)))
  for (let index = 0; index < 10; index++) {
    t.equal((await send('GET', '/api/v1/dispatches', { headers: { cookie, ...named } }, null)).status, 401)
  }
  t.same(new Set((await busy).map(({ status }) => status)), new Set([200]))
})

await t.test('other companies\' dispatches, providers and callbacks are not there', async (t) => {
  const company = await service.company('zanzibar')
  const dispatchId = await dispatched({ metadata: { note: 'zanzibar' } }, company.admin)
  const cookie = await signIn()
  const answers = [await open(`/dispatches/${dispatchId}`, cookie), await open(`/dispatches?id=${dispatchId}`, cookie)]
  for (const verb of ['cancel', 'retry', 'correct', 'resolve', `callbacks/${randomUUID()}`]) {
    answers.push(await post(`/dispatches/${dispatchId}/${verb}`, { outcome: 'accepted', reason: 'Seen.' }, cookie))
  }
  t.same(answers.map(({ status }) => status), [404, 200, 404, 404, 404, 404, 404])
  for (const { body } of answers) lacks(t, body, 'zanzibar')
  for (const path of ['', '/dispatches', '/providers', '/sessions']) lacks(t, (await open(path, cookie)).body, 'zanzibar', path)
})

await t.test('what a member may not do, the pages do not offer, and refuse', async (t) => {
  const { member } = await service.company('members')
  const cookie = await signIn(member)
  lacks(t, (await open('/providers', cookie)).body, '/console/services/')
  lacks(t, (await open('/providers/smtp', cookie)).body, '<form method="post" action="/console/providers')
  t.equal((await open('/services/sms', cookie)).status, 403)
  t.equal((await post('/services/sms', { to: 'twilio' }, cookie)).status, 403)
  t.equal((await post('/providers/smtp', { host: 'smtp.example.com' }, cookie)).status, 403)
})

await t.test('texts of tenants and vendors stand in a page as text', async (t) => {
  const cookie = await signIn()
  const corpus = ['<script>alert(1)</script>', '"><img src=x onerror=alert(1)>', '\'><svg/onload=alert(1)>',
    '</textarea><script>x</script>', '</title><script>x</script>', '<!--', '${alert(1)}', 'javascript:alert(1)', '&lt;script&gt;',
    '\u202e<b>']
  for (const text of corpus) {
    const dispatchId = await dispatched({ metadata: { [text.slice(0, 50)]: text }, invoicing: { reference: 'reject' } })
    const filter = new URLSearchParams({ recipient: text, invoiceNumber: text }).toString()
    const pages = [await open(`/dispatches/${dispatchId}`, cookie), await open(`/dispatches?${filter}`, cookie),
      await post('/providers/smtp', { host: text, allowedSenders: text, user: text }, cookie),
      await post(`/dispatches/${dispatchId}/retry`, { correction: text }, cookie)]
    for (const { body } of pages) {
      lacks(t, body.replace(ownScript, ''), /<script|<img|<svg\/|<b>|<!--|on(?:error|load)=alert\(1\)>(?!&)/, text)
      lacks(t, body, 'href="javascript:')
    }
    contains(t, pages[0]!.body,
      text.replaceAll('\u202e', '').replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
        .replaceAll('\'', '&#39;'), text)
  }
})

await t.test('a secret is stored and never shown; left empty it is kept, and it can be deleted', async (t) => {
  const cookie = await signIn()
  const settings = { host: 'smtp.example.com', allowedSenders: 'demo@example.com\r\n@example.org', user: 'ada', port: '587' }
  const save = (more: Record<string, string>): Promise<Answer> => post('/providers/smtp', { ...settings, ...more }, cookie)
  t.equal((await save({ password: 'canary-password' })).headers.get('location'), '/console/providers/smtp?saved=1')
  const shown = await open('/providers/smtp?saved=1', cookie)
  lacks(t, shown.body, 'canary-password')
  contains(t, shown.body, languages.en.secretSet)
  contains(t, shown.body, languages.en.settingsSaved)
  const stored = async (): Promise<unknown> =>
    (await send('GET', '/api/v1/my/config')).body.company.providers.find(({ code }: { code: string }) => code === 'smtp').settings
  await save({ password: '' })
  has(t, await stored(), { ...settings, port: 587, allowedSenders: ['demo@example.com', '@example.org'], password: { set: true } })
  await save({ user: '', 'password:delete': 'true' })
  t.notOk(Object.hasOwn(await stored() as object, 'password'))
})

await t.test('a field that the API refuses says so in place, with what was written', async (t) => {
  const cookie = await signIn()
  await post('/providers/smtp', { host: 'smtp.example.com', allowedSenders: 'demo@example.com', user: 'ada', password: 'kept' }, cookie)
  const answer = await post('/providers/smtp', { host: 'smtp.example.com', allowedSenders: 'nobody', port: '99999', password: 'canary' },
    cookie)
  t.equal(answer.status, 422)
  contains(t, answer.body, /id="f-port-help"[^]*value="99999"[^>]* aria-invalid="true"[^>]*aria-describedby="f-port-help f-port-wrong"/)
  contains(t, answer.body, /id="f-allowedSenders-wrong">[^<]/)
  lacks(t, answer.body, 'canary')
  contains(t, answer.body, languages.en.secretSet, 'the stored one is still set')
})

await t.test('the form of a provider is in the language of the reader, where its manifest has it', async (t) => {
  const cookie = await signIn()
  const [english, french] = [await open('/providers/smtp', cookie), await open('/providers/smtp', cookie, { 'accept-language': 'fr' })]
  contains(t, english.body, '<label for="f-host">Mail server</label>')
  contains(t, french.body, '<label for="f-host">Serveur de messagerie</label>')
  contains(t, french.body, 'Le nom du serveur qui achemine vos e-mails')
  contains(t, (await open('/providers/lob', cookie, { 'accept-language': 'fr' })).body, '<label for="f-senderZip">Code postal</label>')
})

await t.test('settings are ready when the vendor has said so, and until then nobody has checked them', async (t) => {
  const cookie = await signIn()
  const badge = /<h2 id="settings">Settings <span class="badge \w+">([^<]*)</
  await post('/providers/smtp', { host: 'localhost', port: '1', allowedSenders: 'demo@example.com' }, cookie)
  t.equal(badge.exec((await open('/providers/smtp', cookie)).body)?.[1], languages.en.neverChecked)
  const checked = await post('/providers/smtp/check', {}, cookie)
  t.equal(badge.exec(checked.body)?.[1], languages.en.notCheckable, 'the page of the answer knows it')
  contains(t, checked.body, new RegExp(`${languages.en.checkedLast} <time datetime="`))
  contains(t, (await open('/providers', cookie)).body,
    new RegExp(`${languages.en.notCheckable}</span>[^]*?${languages.en.checkedLast} <time`))
  lacks(t, (await open('/providers', cookie)).body, `>${languages.en.ready}<`)
})

await t.test('a default whose settings are removed is marked where it stands, on Home and by the API', async (t) => {
  const { admin } = await service.company('unready')
  const cookie = await signIn(admin)
  await post('/providers/smtp', { host: 'smtp.example.com', allowedSenders: 'demo@example.com' }, cookie)
  lacks(t, (await open('/providers/smtp', cookie)).body, 'It is the provider of')
  await post('/services/email', { to: 'smtp' }, cookie)
  contains(t, (await open('/providers/smtp', cookie)).body, 'It is the provider of: E-mail.')
  const email = async (): Promise<any> => (await send('GET', '/api/v1/my/config', {}, admin)).body.services.email
  t.equal((await email()).problems, undefined)
  const home =
    /<a href="\/console\/providers\/smtp">E-mail: the chosen provider, SMTP, cannot be used<\/a> <span class="quiet">no settings yet/
  lacks(t, (await open('', cookie)).body, home)
  const { headers } = await confirm('/providers/smtp/remove', {}, cookie)
  t.equal(headers.get('location'), '/console/providers?removed=smtp')
  const page = await open('/providers?removed=smtp', cookie)
  contains(t, page.body, 'These services have it as their provider: E-mail.')
  contains(t, page.body, /SMTP <span class="badge warn">cannot be used<\/span> <a href="\/console\/providers\/smtp">no settings yet<\/a>/)
  contains(t, (await open('', cookie)).body, home)
  has(t, await email(), { providerName: 'smtp', problems: [{ path: '/providerName', code: 'configuration_missing' }] })
  const list = { providers: [{ providerName: 'simulator' }, { providerName: 'smtp' }] }
  await send('PUT', '/api/v1/company/providers/simulator', { body: { settings: {} } }, admin)
  await send('PUT', '/api/v1/company/defaults/email', { body: list }, admin)
  has(t, await email(), { problems: [{ path: '/providers/1/providerName' }] })
})

await t.test('a check tells one of its three answers', async (t) => {
  const cookie = await signIn()
  await post('/providers/smtp', { host: 'localhost', port: '1', allowedSenders: 'demo@example.com' }, cookie)
  contains(t, (await post('/providers/smtp/check', {}, cookie)).body, languages.en.check_cannot_be_checked)
})

await t.test('a switch shows what will change before it does, and then changes it', async (t) => {
  const cookie = await signIn()
  await post('/providers/smtp', { host: 'smtp.example.com', allowedSenders: 'demo@example.com' }, cookie)
  const chosen = async (): Promise<unknown> => (await send('GET', '/api/v1/my/config')).body.company.choices.email
  contains(t, (await open('/services/email', cookie)).body, /value="simulator" required checked/)
  const preview = await open('/services/email?to=smtp', cookie)
  contains(t, preview.body, /<td>Simulator<\/td><td>SMTP<\/td>/)
  t.equal(await chosen(), 'simulator')
  t.equal((await post('/services/email', { to: 'smtp' }, cookie)).status, 303)
  t.equal(await chosen(), 'smtp')
  await post('/services/email', { to: '' }, cookie)
  t.equal(await chosen(), undefined)
  contains(t, (await open('/services/email?to=twilio', cookie)).body, languages.en.switchUnready)
  t.equal((await open('/services/nothing', cookie)).status, 404)
})

await t.test('a new company is led from its services to the settings of a provider, and from there to the choice', async (t) => {
  const admin = { email: 'ada@young.example.com', password: 'correct horse battery' }
  await send('POST', '/api/v1/companies', { body: { name: 'Young', credits: 5, admin } }, operator)
  const cookie = await signIn(admin)
  const before = String((await open('/providers', cookie)).body)
  contains(t, before,
    /<th scope="row">Invoicing<\/th>[^]*?Needs settings first: [^]*?<a href="\/console\/providers\/simulator">Simulator<\/a>/)
  lacks(t, before, 'href="/console/services/')
  t.equal((await post('/providers/simulator', {}, cookie)).headers.get('location'), '/console/providers/simulator?saved=1')
  contains(t, (await open('/providers/simulator?saved=1', cookie)).body, '<a href="/console/services/postal?to=simulator">Post</a>')
  contains(t, (await open('/services/sms', cookie)).body, '<a href="/console/providers/twilio">Twilio</a>')
  await post('/services/postal', { to: 'simulator' }, cookie)
  lacks(t, (await open('/providers/simulator?saved=1', cookie)).body, '/console/services/postal?')
})

await t.test('a list of providers with weights is shown before it holds; what the API refuses stays in the form', async (t) => {
  const cookie = await signIn()
  await post('/providers/smtp', { host: 'smtp.example.com', allowedSenders: 'demo@example.com' }, cookie)
  const listed = async (): Promise<unknown> => (await send('GET', '/api/v1/my/config')).body.company.lists?.email
  const list = {
    'provider.0': 'simulator',
    'place.0': '2',
    'after.0.provider_error': 'true',
    'provider.1': 'smtp',
    'place.1': '1',
    'weight.1': '80',
    'provider.2': '',
    'place.2': '3'
  }
  const preview = await post('/services/email/list', list, cookie)
  t.equal(preview.status, 200)
  contains(t, preview.body, /<th scope="row">1<\/th><td>[^]*?<\/td><td><strong>SMTP<\/strong><br><span class="quiet">weight 80 · /)
  t.equal(await listed(), undefined)
  const fields = [...(preview.body as string).matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)]
    .map(([, name = '', value = '']): [string, string] => [name, value]).filter(([name]) => name.includes('.'))
  const changed = (await post('/services/email/list/change', fields, cookie)).headers.get('location')
  t.equal(changed, '/console/providers?changed=email')
  lacks(t, (await open('/providers?changed=Call%20us', cookie)).body, 'Call us', 'a link says nothing of its own')
  contains(t, (await open('/providers?changed=email', cookie)).body, 'The change is made: E-mail.')
  t.same(await listed(), [{ providerName: 'smtp', weight: 80 }, { providerName: 'simulator', after: ['provider_error'] }])
  const form = (await open('/services/email', cookie)).body
  contains(t, form, /name="weight\.0" type="number" value="80"/)
  contains(t, form, /name="after\.1\.provider_error" value="true" checked/)
  contains(t, (await open('/providers', cookie)).body, 'SMTP → Simulator')
  const refused = await post('/services/email/list/change', { ...list, 'weight.1': '<b>' }, cookie)
  t.equal(refused.status, 400)
  contains(t, refused.body, /name="weight\.0" type="number" value="&lt;b&gt;"/)
  contains(t, (await post('/services/email/list', {}, cookie)).body, languages.en.listEmpty)
  await send('PUT', '/api/v1/company/defaults/email', { body: { providerName: 'simulator' } })
})

await t.test('a dispatch is retried with a correction, resolved and cancelled as by the API', async (t) => {
  const cookie = await signIn()
  const rejected = await dispatched({ invoicing: { reference: 'reject' } })
  t.equal((await post(`/dispatches/${rejected}/retry`, { correction: '{' }, cookie)).status, 400)
  const correction = JSON.stringify({ invoicing: { documentType: 'INVOICE', reference: 'fine' } })
  t.equal((await post(`/dispatches/${rejected}/retry`, { correction }, cookie)).status, 303)
  const uncertain = await dispatched({ invoicing: { reference: 'uncertain' } })
  contains(t, (await open(`/dispatches/${uncertain}`, cookie)).body, languages.en.resolveIntro)
  t.equal((await post(`/dispatches/${uncertain}/resolve`, { outcome: 'accepted', reason: '' }, cookie)).status, 400)
  t.equal((await post(`/dispatches/${uncertain}/resolve`, { outcome: 'accepted', reason: 'Seen there.' }, cookie)).status, 303)
  t.equal((await send('GET', `/api/v1/dispatches/${uncertain}`)).body.status, 'succeeded')
  const refused = await post(`/dispatches/${uncertain}/resolve`, { outcome: 'accepted', reason: 'Again.' }, cookie)
  t.equal(refused.status, 409)
  contains(t, refused.body, /role="alert"/)
})

await t.test('a page knows all that was changed before it, by other processes too', async (t) => {
  const cookie = await signIn()
  const [{ owner }, freshness] = [service.app.get('database'), service.app.get('freshness')]
  const before = freshness.number()
  await owner.updateTable('users').set({ email: admin.email }).where('email', '=', admin.email).execute()
  t.equal((await open('/assets', cookie)).status, 200)
  t.ok(freshness.number() > before)
})

await t.test('the list is filtered as the API filters, and says what it does not understand', async (t) => {
  const cookie = await signIn()
  const failed = await dispatched({ invoicing: { reference: 'reject' } })
  const fine = await dispatched()
  const { body } = await open('/dispatches?status=failed', cookie)
  contains(t, body, failed)
  lacks(t, body, fine)
  const refused = await open('/dispatches?status=nonsense', cookie)
  t.equal(refused.status, 400)
  t.equal(refused.body.split('Choose one of: ').length - 1, 1, 'its sentence stands there once')
  t.equal((await open(`/dispatches?id=${fine}`, cookie)).headers.get('location'), `/console/dispatches/${fine}`)
})

await t.test('the first page counts what the API counts', async (t) => {
  const before = clock.now
  // What is counted is found by its ids, which are of today.
  clock.now = new Date()
  t.teardown(() => {
    clock.now = before
  })
  const { admin: login } = await service.company('counted')
  await dispatched({}, login)
  await dispatched({ invoicing: { reference: 'reject' } }, login)
  clock.now = new Date(Date.now() + 1000)
  const { body: { data, from, to } } = await send('GET', '/api/v1/dispatches/statistics', {}, login)
  t.same(data, [{ service: 'invoicing', status: 'failed', count: 1 }, { service: 'invoicing', status: 'succeeded', count: 1 }])
  t.equal(Date.parse(to) - Date.parse(from), 86_400_000)
  const home = (await open('', await signIn(login))).body as string
  contains(t, home.replaceAll(/<\/?a\b[^>]*>/g, ''),
    /<th scope="row">Invoicing<\/th>(<td class="count">[\d]<\/td>){4}<td class="count">2<\/td>/)
  for (const status of ['failed', 'succeeded']) {
    contains(t, home,
      new RegExp(`<a href="/console/dispatches\\?service=invoicing&amp;from=[^"]*&amp;to=[^"]*&amp;status=${status}">1</a>`))
  }
  t.equal((await send('GET', '/api/v1/dispatches/statistics?from=2020-01-01', {}, login)).status, 400)
  t.same((await send('GET', '/api/v1/dispatches/statistics?to=2026-03-01', {}, login)).body.data, [])
})

await t.test('a page is in the language of the reader', async (t) => {
  const french = await open('/sign-in', '', { 'accept-language': 'fr-FR,fr;q=0.9,en;q=0.8' })
  contains(t, french.body, '<html lang="fr">')
  contains(t, (await open('/sign-in', '', { 'accept-language': 'de' })).body, '<html lang="en">')
  const { headers } = await post('/language', { language: 'fr', next: '/console/sign-in' })
  contains(t, (await open('/sign-in', headers.get('set-cookie')!.split(';', 1)[0]!)).body, '<html lang="fr">')
})

await t.test('pages run the script of the console alone and allow no frame, load nothing from elsewhere, and are small', async (t) => {
  const cookie = await signIn()
  for (const path of ['/sign-in', '', '/dispatches', '/providers', '/providers/smtp', '/templates', '/templates/1', '/templates/new',
    '/send', '/send?template=1&draft=00000000-0000-4000-8000-000000000000', '/drafts', '/sessions', '/nothing'])
  {
    const { headers, body } = await open(path, path === '/sign-in' ? '' : cookie)
    const policy = headers.get('content-security-policy') ?? ''
    for (const part of ['default-src \'none\'', 'script-src \'self\';', 'frame-ancestors \'none\'',
      'require-trusted-types-for \'script\''])
    {
      contains(t, policy, part)
    }
    lacks(t, policy, 'unsafe')
    contains(t, body, ownScript)
    lacks(t, body.replace(ownScript, ''), /<script|style="|\son\w+=/)
    t.equal(headers.get('cache-control'), 'no-store')
    t.equal(headers.get('content-encoding'), null, 'its length would tell what is in it')
  }
  const editor = await editorScript('text')
  for (const [{ path, bytes }, type] of [[stylesheet, 'text/css'], [script, 'text/javascript'], [editor, 'text/javascript']] as const) {
    for (const coding of ['identity', 'gzip', 'br']) {
      const { status, headers, body } = await open(path.replace('/console', ''), '', { 'accept-encoding': coding })
      t.same([status, headers.get('content-type')], [200, `${type}; charset=utf-8`])
      contains(t, headers.get('cache-control'), 'immutable')
      t.same([headers.get('content-encoding'), headers.get('vary')], [coding === 'identity' ? null : coding, 'accept-encoding'])
      t.ok(Number(headers.get('content-length')) < bytes.length / (coding === 'identity' ? 0.9 : 3), `${path} by ${coding}`)
      t.ok(body === bytes.toString(), path)
    }
  }
})

await t.test('none of it was a fault of the service', (t) => {
  hasNoFault(t, service)
  t.end()
})

await t.test('DISPATCH_CONSOLE=off: there is no console', async (t) => {
  const without = await startService(t, { config: { showsConsole: false } })
  t.equal((await without.send('GET', '/console')).status, 404)
})

await t.test('in production the console is there by HTTPS, for the address of the client before the proxy', async (t) => {
  const behind = await startService(t, { config: { environment: 'production' } })
  const at = openConsole(behind)
  const https = { 'sec-fetch-site': 'same-origin', 'x-forwarded-proto': 'https', 'x-forwarded-for': '192.0.2.7' }
  const { headers } = await at.post('/sign-in', { email: admin.email, password: admin.password }, '', https)
  const cookie = headers.get('set-cookie')?.split(';', 1)[0] ?? ''
  const page = await at.open('/sessions', cookie, https)
  t.equal(page.status, 200)
  contains(t, page.body, '<td>192.0.2.7</td>')
  const { headers: again } = await at.post('/sign-in', { email: admin.email, password: admin.password }, '', https)
  await at.post('/sign-out', {}, again.get('set-cookie')?.split(';', 1)[0], https)
  has(t, (await behind.send('GET', '/api/v1/audit?action=session.ended')).body.data, [{ address: '192.0.2.7' }])
  await behind.send('PUT', '/api/v1/company', { body: { addresses: ['198.51.100.0/24'], force: true } })
  isSignedOut(t, await at.open('', cookie, https), 'the address is not on the company\'s list any more')
  t.equal((await at.open('', cookie)).status, 403, 'plain HTTP')
})

await t.test('sign-ins are limited as the API\'s are, together with them', async (t) => {
  const limited: TestService = await startService(t, { config: { limits: { auth: 3, dispatch: 0, validation: 0, requests: 0 } } })
  const at = openConsole(limited)
  for (let index = 0; index < 2; index++) await at.signIn()
  t.equal((await limited.send('POST', '/auth', { body: { username: admin.email, password: admin.password } }, null)).status, 200)
  const refused = await at.post('/sign-in', { email: admin.email, password: admin.password })
  t.equal(refused.status, 429)
  t.ok(Number(refused.headers.get('retry-after')) > 0)
  contains(t, refused.body, '<html lang="en">')
})
