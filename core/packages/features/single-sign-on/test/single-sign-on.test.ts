import t, { type Test } from 'tap'
import { languages } from '../../../../../plugins/console/language/language.ts'
import { dump, hasNoFault, isError } from '../../../../../test/hostile/support.ts'
import { isAccessible, launchChromium, signInAt } from '../../../../../test/plugins/support/chromium.ts'
import { openConsole } from '../../../../../test/plugins/support/console.ts'
import { startFront } from '../../../../../test/plugins/support/front.ts'
import { type Person, startOpenIdProvider, startPublisher } from '../../../../../test/plugins/support/openid-provider.ts'
import { contains, has, lacks, matches } from '../../../../../test/support/matching.ts'
import { type Answer, type Login, startService } from '../../../../../test/support/service.ts'
import { wordsOf } from '../pages/words.ts'
import { tablesIn } from '../store/tables.ts'

const en = wordsOf(languages.en)
const clock = { now: new Date() }
const front = await startFront(t)
const service = await startService(t, { config: { publicUrl: front.url }, replacements: { now: () => clock.now } })
front.leadTo(service.url)
const browser = await launchChromium(t)
const { app, send } = service
const { confirm, open, post, signIn } = openConsole(service)
const provider = await startOpenIdProvider(t)
const { issuer, client } = provider
const path = '/api/v1/company/single-sign-on'
let companies = 0

/** A company with single sign-on that is registered at the provider, and the code of it. */
async function founded (changes: object = {}) {
  const company = await service.company(`sso${String(++companies)}`)
  const set = (more: object = {}): Promise<Answer> =>
    send('PUT', path, { body: { issuer, ...client, createsUsers: true, defaultServices: ['sms'], ...changes, ...more } }, company.admin)
  const { body: { redirectUri, current: { code } } } = await set()
  provider.register(redirectUri as string)
  const { data } = (await send('GET', '/api/v1/users', {}, company.operator)).body
  const idOf = ({ email }: Pick<Login, 'email'>): number => data.find((user: Login) => user.email === email).id
  return { ...company, code: String(code), redirectUri: String(redirectUri), set, idOf }
}

type Left = { url: string, cookie: string }

/** What the browser gets before it goes to the provider. */
function leftWith ({ headers, body }: Answer): Left {
  const [, url = ''] = /<a href="(http:[^"]+)"/.exec(String(body)) ?? []
  return { url: url.replaceAll('&amp;', '&'), cookie: headers.get('set-cookie')?.split(';', 1)[0] ?? '' }
}
const leave = async (code: string): Promise<Left> => leftWith(await post('/sign-on', { company: code, next: '/console/providers' }))
const comeBack = (answer: URL, cookie: string): Promise<Answer> =>
  open(`${answer.pathname.replace('/console', '')}${answer.search}`, cookie)

/** Signs a person in by the provider. */
async function signOn (code: string, person: Person): Promise<Answer> {
  provider.person = person
  const { url, cookie } = await leave(code)
  return comeBack(await provider.visit(url), cookie)
}
const sessionOf = ({ headers }: Answer): string =>
  headers.getSetCookie().find((line) => line.startsWith('__Host-console='))?.split(';', 1)[0] ?? ''
const provedIn = ({ headers }: Answer): string =>
  headers.getSetCookie().find((line) => line.startsWith('__Host-console-sign-on='))?.split(';', 1)[0] ?? ''
const finish = (fields: Record<string, string>, cookie: string): Promise<Answer> => post('/sign-on/link/finish', fields, cookie)
const usersOf = async (by: Login): Promise<{ id: number, email: string, role: string, services: string[] }[]> =>
  (await send('GET', '/api/v1/users', {}, by)).body.data

function isRefused (t: Test, answer: Answer, why: keyof typeof en, name: string): void {
  t.equal(answer.status, 403, name)
  contains(t, answer.body, en[why], name)
  t.equal(sessionOf(answer), '', `${name}: there is no session`)
}

await t.test('whom the provider lets in becomes a user with the rights that the admin has set, and comes back as the same', async (t) => {
  const { admin, code, redirectUri } = await founded()
  const person = { sub: 'grace', email: 'Grace@Example.com', email_verified: true }
  const { url, cookie } = await leave(code)
  has(t, Object.fromEntries(new URL(url).searchParams), {
    response_type: 'code',
    client_id: client.clientId,
    redirect_uri: redirectUri,
    code_challenge_method: 'S256'
  })
  matches(t, [...new URL(url).searchParams.keys()].sort(), ['client_id', 'code_challenge', 'code_challenge_method', 'nonce', 'redirect_uri',
    'response_type', 'scope', 'state'])
  provider.person = person
  const first = await comeBack(await provider.visit(url), cookie)
  t.equal(first.status, 200)
  contains(t, first.body, '<meta http-equiv="refresh" content="0; url=/console/providers">')
  contains(t, (await open('', sessionOf(first))).body, 'grace@example.com')
  const again = await signOn(code, { ...person, email: 'other@example.com' })
  contains(t, (await open('', sessionOf(again))).body, 'grace@example.com', 'the subject tells who it is, not the address')
  const users = (await usersOf(admin)).filter(({ email }) => email === 'grace@example.com')
  has(t, users, [{ role: 'member', services: ['sms'] }])
  has(t, (await send('GET', '/api/v1/audit?action=user.created', {}, admin)).body.data, [{
    object: { kind: 'user', id: String(users[0]?.id) },
    author: { userId: users[0]?.id },
    facts: { email: 'grace@example.com', issuer }
  }])
  isRefused(t, await signOn(code, { sub: 'no-address' }), 'signOnRefused_unknown', 'without an address')
  isRefused(t, await signOn(code, { sub: 'nul', email: 'a\u0000@example.com' }), 'signOnRefused_unknown', 'what is no address')
})

await t.test('a user who is there is not taken over by the e-mail address, but links their account, or an admin allows it', async (t) => {
  const { admin, member, code, set, operator } = await founded()
  const person = { sub: 'member', email: member.email, email_verified: true }
  isRefused(t, await signOn(code, person), 'signOnRefused_taken', 'a user has the address')
  const cookie = await signIn(member)
  contains(t, (await open('/sessions', cookie)).body, 'action="/console/sign-on/link"')
  const left = leftWith(await post('/sign-on/link', {}, cookie))
  const back = await comeBack(await provider.visit(left.url), left.cookie)
  contains(t, back.body, 'url=/console/sign-on/link')
  t.equal(sessionOf(back), '', 'coming back signs nobody in')
  const proved = provedIn(back)
  for (const other of [await signIn(admin), await signIn(member)]) {
    isRefused(t, await open('/sign-on/link', `${other}; ${proved}`), 'signOnRefused_expired', 'another session')
    isRefused(t, await finish({ proof: member.password }, `${other}; ${proved}`), 'signOnRefused_expired', 'another session')
  }
  contains(t, (await open('/sign-on/link', `${cookie}; ${proved}`)).body, member.email)
  t.equal((await finish({ proof: 'wrong' }, `${cookie}; ${proved}`)).status, 403)
  t.equal((await finish({ proof: member.password }, `${cookie}; ${left.cookie}`)).status, 403, 'what was only begun is not proved')
  lacks(t, (await open('/sessions', cookie)).body, en.signOnLinked)
  t.equal((await finish({ proof: member.password }, `${cookie}; ${proved}`)).headers.get('location'), '/console/sessions')
  contains(t, (await open('/sessions', cookie)).body, en.signOnLinked)
  contains(t, (await open('', sessionOf(await signOn(code, person)))).body, member.email)
  has(t, (await send('GET', '/api/v1/audit?action=identity.linked', {}, admin)).body.data, [{ facts: { by: 'password', issuer } }])
  const theirs = await signIn(admin)
  const other = leftWith(await post('/sign-on/link', {}, theirs))
  const taken = provedIn(await comeBack(await provider.visit(other.url), other.cookie))
  isRefused(t, await finish({ proof: admin.password }, `${theirs}; ${taken}`), 'signOnRefused_linked', 'an identity belongs to one user')

  const byEmail = { sub: 'admin', email: admin.email }
  await set({ linksByEmail: true })
  isRefused(t, await signOn(code, byEmail), 'signOnRefused_taken', 'the address is not verified')
  contains(t, (await open('', sessionOf(await signOn(code, { ...byEmail, email_verified: true })))).body, admin.email)
  isRefused(t, await signOn(code, { sub: 'o', email: operator.email, email_verified: true }), 'signOnRefused_taken', 'never an operator')
})

await t.test('an answer counts in the browser that has begun, once, within ten minutes, and for what is set', async (t) => {
  const { code, set } = await founded()
  provider.person = { sub: 'ada', email: 'ada@example.com', email_verified: true }
  const [one, two] = [await leave(code), await leave(code)]
  const answer = await provider.visit(one.url)
  isRefused(t, await comeBack(answer, ''), 'signOnRefused_expired', 'another browser')
  isRefused(t, await comeBack(answer, two.cookie), 'signOnRefused_expired', 'the state of another sign-in')
  isRefused(t, await comeBack(answer, one.cookie.replace('=', '=x')), 'signOnRefused_expired', 'an altered cookie')
  for (const [name, why] of [['state', 'signOnRefused_expired'], ['iss', 'signOnRefused_issuer'], ['code',
    'signOnRefused_issuer']] as const)
  {
    const { url, cookie } = await leave(code)
    const forged = await provider.visit(url)
    forged.searchParams.set(name, 'x'.repeat(43))
    isRefused(t, await comeBack(forged, cookie), why, `another ${name}`)
  }
  t.equal((await comeBack(answer, one.cookie)).status, 200)
  isRefused(t, await comeBack(answer, one.cookie), 'signOnRefused_expired', 'an answer counts once')
  const refusing = await provider.visit(two.url)
  refusing.searchParams.delete('code')
  refusing.searchParams.set('error', 'access_denied')
  isRefused(t, await comeBack(refusing, two.cookie), 'signOnRefused_issuer', 'the provider refuses')
  const late = await leave(code)
  const came = await provider.visit(late.url)
  clock.now = new Date(clock.now.getTime() + 600_000)
  isRefused(t, await comeBack(came, late.cookie), 'signOnRefused_expired', 'too late')
  clock.now = new Date(clock.now.getTime() - 600_000)
  const removed = await leave(code)
  const back = await provider.visit(removed.url)
  await set({ clientId: 'another', clientSecret: 'another' })
  isRefused(t, await comeBack(back, removed.cookie), 'signOnRefused_expired', 'another client is set')
})

await t.test('who is disabled, or has no user, is not let in; and no other company\'s user is meant', async (t) => {
  const [one, two] = [await founded(), await founded({ createsUsers: false })]
  const person = { sub: 'bob', email: 'bob@example.com', email_verified: true }
  t.equal((await signOn(one.code, person)).status, 200)
  isRefused(t, await signOn(two.code, person), 'signOnRefused_unknown', 'the subject of another company')
  const [bob] = (await usersOf(one.admin)).filter(({ email }) => email === person.email)
  await send('PUT', `/api/v1/users/${String(bob?.id)}`, { body: { disabled: true } }, one.admin)
  isRefused(t, await signOn(one.code, person), 'signOnRefused_refused', 'disabled')
  await send('PUT', `/api/v1/users/${String(bob?.id)}`, { body: { disabled: false } }, one.admin)
  await send('PUT', '/api/v1/company', { body: { addresses: ['198.51.100.0/24'], force: true } }, one.admin)
  isRefused(t, await signOn(one.code, person), 'signOnRefused_refused', 'from an address that is not on the list')
})

await t.test('where it is required the console refuses passwords, but for the way in; programs go on', async (t) => {
  const { admin, member, code, set, idOf } = await founded()
  isError(t, await set({ required: true }), 'conflict', 'nobody has signed in by it')
  t.equal((await signOn(code, { sub: 'one', email: 'one@example.com', email_verified: true })).status, 200)
  isError(t, await set({ required: true, wayIn: idOf(member) }), 'validation_failed', 'the way in is an admin')
  has(t, (await set({ required: true })).body.current, { required: true, wayIn: idOf(admin) })
  const refused = await post('/sign-in', { ...member })
  t.equal(refused.status, 403)
  const wrong = await post('/sign-in', { ...member, password: 'wrong' })
  t.equal(refused.body, wrong.body, 'it does not tell whether the password was right')
  t.equal((await open('', await signIn(admin))).status, 200, 'the way in')
  t.equal((await send('GET', '/healthz', {}, member)).status, 200, 'at the API the password is good')
  await set({ required: false })
  t.equal((await open('', await signIn(member))).status, 200)
})

await t.test('a code of nobody is answered as one whose provider is away, and nobody learns of a company by its name', async (t) => {
  const { code, set, companyId } = await founded()
  matches(t, code, /^[a-z2-9]{12}$/)
  await tablesIn(app.get('database').owner).updateTable('single_sign_on').set({ issuer: 'http://127.0.0.1:9' }).where('code', '=', code)
    .execute()
  const texts = await Promise.all([code, 'abcdefghjkmn', 'sso1', ''].map(async (company) => {
    const { status, body } = await post('/sign-on', { company })
    return [status, String(body).replace(`value="${company}"`, '')]
  }))
  for (const text of texts) t.same(text, texts[0])
  await set()
  t.not((await leave(code)).url, '')
  await app.get('database').owner.updateTable('companies').set({ disabled_at: clock.now }).where('company_id', '=', companyId).execute()
  t.equal((await leave(code)).url, '', 'the company is disabled')
})

await t.test('settings that cannot work, or give more than the admin has, are refused; the secret goes to no other issuer', async (t) => {
  const { admin, set, operator } = await founded()
  for (const wrong of ['https://user@login.example.com', 'ftp://127.0.0.1', 'x', `${issuer}?a`, `${issuer}/elsewhere`,
    'http://127.0.0.1:9'])
  {
    has(t, await set({ issuer: wrong }), { status: 422, body: { details: [{ path: '/issuer' }] } }, wrong)
  }
  const evil = await startPublisher(t,
    (own) => ({ issuer: own, authorization_endpoint: 'javascript:alert(1)', token_endpoint: `${own}/t` }))
  has(t, await set({ issuer: evil }), { status: 422, body: { details: [{ path: '/issuer', message: /no https:\/\/ address/ }] } })
  const redirecting = await startPublisher(t, () => undefined)
  has(t, await set({ issuer: redirecting }), { status: 422, body: { details: [{ path: '/issuer' }] } }, 'no redirect is followed')
  has(t, await set({ issuer: 'https://10.0.0.1' }), { status: 422, body: { details: [{ path: '/issuer', message: /may not be called/ }] } })
  const [one, two] = [await startOpenIdProvider(t), { issuer, clientId: 'other' }]
  for (const more of [{ issuer: one.issuer }, two]) {
    has(t, await set({ ...more, clientSecret: undefined }), { status: 422, body: { details: [{ path: '/clientSecret' }] } })
  }
  t.equal((await set({ clientSecret: undefined })).status, 200, 'the same client keeps its secret')
  const limited = { email: 'limited@sso.example.com', password: 'correct horse battery' }
  await send('POST', '/api/v1/users', { body: { ...limited, role: 'admin', services: ['sms'] } }, admin)
  const as = (body: object): Promise<Answer> => send('PUT', path, { body: { issuer, ...client, ...body } }, limited)
  isError(t, await as({ defaultServices: ['email'] }), 'forbidden')
  isError(t, await as({ defaultServices: ['sms'], linksByEmail: true }), 'forbidden', 'who is known by an address may have more')
  t.equal((await as({ defaultServices: ['sms'] })).status, 200)
  isError(t, await as({ defaultRole: 'operator' }), 'validation_error')
  t.equal((await send('DELETE', path, {}, operator)).status, 204)
  isError(t, await send('DELETE', path, {}, admin), 'not_found')
  has(t, (await send('GET', path, {}, admin)).body, { current: null })
})

await t.test('who acts as a user does not link an account of their own with them', async (t) => {
  const { admin, member, idOf } = await founded()
  const cookie = await signIn(admin)
  const id = String(idOf(member))
  await post(`/act/${id}`, {}, cookie)
  t.equal((await post('/sign-on/link', { ':as': id }, cookie)).status, 409)
})

await t.test('an address alone leads to the provider of its domain; no other address tells anything', async (t) => {
  const [{ companyId, operator, set }, other] = [await founded(), await founded()]
  const at = `/api/v1/companies/${String(companyId)}/domains`
  const domain = `acme${String(companyId)}.example.com`
  isError(t, await send('PUT', at, { body: { domains: ['Acme.example.com'] } }, operator), 'validation_error')
  has(t, await send('PUT', at, { body: { domains: [domain] } }, operator), { status: 200, body: { domains: [domain] } })
  isError(t, await send('PUT', `/api/v1/companies/${String(other.companyId)}/domains`, { body: { domains: [domain] } }, operator),
    'conflict')
  isError(t, await send('PUT', '/api/v1/companies/999999/domains', { body: { domains: [] } }, operator), 'not_found')
  const { url } = leftWith(await post('/sign-on', { email: `Nobody@${domain}` }))
  t.equal(new URL(url).searchParams.get('login_hint'), `nobody@${domain}`)
  t.equal(new URL(url).origin, new URL(issuer).origin)
  await tablesIn(app.get('database').owner).updateTable('single_sign_on').set({ issuer: 'http://127.0.0.1:9' }).where('company_id', '=',
    companyId)
    .execute()
  const addresses = [`nobody@${domain}`, 'nobody@unknown.example.com', `nobody@${domain}.`, 'nobody@']
  const texts = await Promise.all(addresses.map(async (email) => String((await post('/sign-on', { email })).body).replaceAll(email, '')))
  for (const text of texts) t.equal(text, texts[0])
  await set()
  contains(t, (await open(`/companies/${String(companyId)}`, await signIn(operator))).body, domain)
})

await t.test('an admin unlinks a user, and a user themselves who has a password', async (t) => {
  const { admin, member, code, set, idOf } = await founded({ linksByEmail: true })
  for (const { email } of [admin, member]) await signOn(code, { sub: email, email, email_verified: true })
  const [mine, theirs, id] = [await signIn(admin), await signIn(member), String(idOf(member))]
  contains(t, (await open(`/company/users/${id}`, mine)).body, en.signOnUnlink)
  t.equal((await confirm(`/company/users/${id}/unlink`, {}, mine)).headers.get('location'), '/console/company?saved=1')
  t.equal((await open('', theirs)).status, 303, 'the session has ended')
  lacks(t, (await open(`/company/users/${id}`, mine)).body, en.signOnUnlink)
  t.equal((await confirm(`/company/users/${id}/unlink`, {}, mine)).status, 404, 'nothing is linked')
  isError(t, await send('DELETE', `/api/v1/users/${String(idOf(admin))}/single-sign-on`, {}, admin), 'forbidden')
  await set({ linksByEmail: false })
  isRefused(t, await signOn(code, { sub: member.email, email: member.email, email_verified: true }), 'signOnRefused_taken', 'unlinked')

  t.equal((await post('/sign-on/unlink', { proof: 'wrong' }, mine)).status, 403)
  t.equal((await post('/sign-on/unlink', { proof: admin.password }, mine)).headers.get('location'), '/console/sessions')
  lacks(t, (await open('/sessions', mine)).body, en.signOnLinked)
  isError(t, await send('POST', '/api/v1/my/single-sign-on/unlink', { body: { password: admin.password } }, admin), 'conflict')
  has(t, (await send('GET', '/api/v1/audit?action=identity.unlinked', {}, admin)).body.data, [{ object: { id: String(idOf(admin)) } }, {
    object: { id }
  }])
})

await t.test('the page of the settings shows no secret, and says what was wrong at its field', async (t) => {
  const { admin, member, code, redirectUri } = await founded()
  const cookie = await signIn(admin)
  const { body } = await open('/company/single-sign-on', cookie)
  for (const part of [code, redirectUri, `value="${issuer}"`]) contains(t, body, part)
  lacks(t, body, client.clientSecret)
  const form = { issuer: 'x', ...client, defaultRole: 'member', service: 'sms' }
  const refused = await post('/company/single-sign-on', form, cookie)
  lacks(t, refused.body, client.clientSecret)
  t.equal(refused.status, 422)
  contains(t, refused.body, /id="f-issuer"[^>]*value="x"[^>]*aria-invalid="true"/)
  t.equal((await post('/company/single-sign-on', { ...form, issuer, trustsEmail: 'true' }, cookie)).status, 303)
  has(t, (await send('GET', path, {}, admin)).body.current, { trustsEmail: true, createsUsers: false })
  t.equal((await open('/company/single-sign-on', await signIn(member))).status, 403)
  t.equal((await confirm('/company/single-sign-on/remove', {}, cookie)).status, 303)
})

await t.test('the page shows the redirect address of an issuer before it is set, and the end of the one that all shared', async (t) => {
  const { admin, companyId, redirectUri, set } = await founded()
  const cookie = await signIn(admin)
  const at = '/company/single-sign-on'
  const addressOf = async (of: string): Promise<string> =>
    (await send('GET', `${path}?${String(new URLSearchParams({ issuer: of }))}`, {}, admin)).body.redirectUri as string
  const other = 'https://login.example.com'
  t.not(await addressOf(other), redirectUri)
  contains(t, (await open(`${at}?${String(new URLSearchParams({ of: other }))}`, cookie)).body, await addressOf(other))
  lacks(t, (await open(at, cookie)).body, en.signOnMoved)
  await tablesIn(app.get('database').owner).updateTable('single_sign_on').set({ shared_until: new Date('2100-03-14T09:00:00Z') })
    .where('company_id', '=', companyId).execute()
  const { body } = await open(at, cookie)
  for (const part of [en.signOnMoved, redirectUri, `${front.url}/console/sign-on/callback<`, '2100-03-14']) contains(t, body, part)
  await set({ required: false, defaultServices: ['sms'], linksByEmail: true, trustsEmail: true })
  t.equal((await post(`${at}/address`, {}, cookie)).headers.get('location'), '/console/company/single-sign-on?saved=1')
  const { shared, ...kept } = (await send('GET', path, {}, admin)).body.current
  t.equal(shared, null)
  has(t, kept, { issuer, clientId: client.clientId, createsUsers: true, defaultServices: ['sms'], linksByEmail: true, trustsEmail: true })

  await send('DELETE', path, {}, admin)
  t.equal((await post(`${at}/address`, {}, cookie)).headers.get('location'), '/console/company/single-sign-on', 'nothing is set')
  const first = await open(at, cookie)
  contains(t, first.body, 'name="of"', 'the issuer is asked for first')
  lacks(t, first.body, 'name="clientId"')
  const second = await open(`${at}?${String(new URLSearchParams({ of: issuer }))}`, cookie)
  for (const part of [redirectUri, 'name="clientId"', `value="${issuer}"`]) contains(t, second.body, part)
  t.equal((await open(`${at}?of=${'x'.repeat(501)}`, cookie)).status, 200)
})

await t.test('the page before the provider says whose it is, and leads on by itself where the person has read that', async (t) => {
  const { companyId, code, operator, redirectUri } = await founded()
  const name = `sso${String(companies)}`
  const link = await open(`/sign-on?company=${code}`, '')
  for (const part of [`<dd>${name}</dd>`, `<dd>${issuer}</dd>`]) contains(t, link.body, part)
  const [, seen = ''] = /name="seen" value="([^"]*)"/.exec(String(link.body)) ?? []
  const onwards = 'http-equiv="refresh"'
  const read = await post('/sign-on', { company: code, seen })
  const unread = await post('/sign-on', { company: code })
  const other = await post('/sign-on', { company: code, seen: 'https://another.example' })
  for (const { body } of [read, unread, other]) for (const part of [`<dd>${name}</dd>`, `<dd>${issuer}</dd>`]) contains(t, body, part)
  contains(t, read.body, onwards)
  for (const { body } of [unread, other]) lacks(t, body, onwards, 'nobody has told the person')
  const domain = `named${String(companyId)}.example.com`
  await send('PUT', `/api/v1/companies/${String(companyId)}/domains`, { body: { domains: [domain] } }, operator)
  contains(t, (await post('/sign-on', { email: `ada@${domain}` })).body, onwards, 'the address is the person\'s own')
  lacks(t, (await open('/sign-on?company=abcdefghjkmn', '')).body, 'name="seen"', 'a code of nobody')
  contains(t, decodeURIComponent(leftWith(read).url), redirectUri)
})

if (browser === undefined) t.pass('there is no Chromium on this machine', { skip: true })
else {
  for (const [locale, colorScheme, width, javaScriptEnabled] of [['en', 'light', 1280, false], ['fr', 'dark', 360, true]] as const) {
    await t.test(`a person signs in by the provider, from another site and back (${locale}, ${String(width)} pixels wide)`, async (t) => {
      const { admin, code } = await founded()
      const context = await browser.newContext({ baseURL: front.url, locale, colorScheme, viewport: { width, height: 800 } })
      const plain = await browser.newContext({ baseURL: front.url, locale, javaScriptEnabled, viewport: { width, height: 800 } })
      const [page, guest] = [await context.newPage(), await plain.newPage()]
      const fits = async (name: string): Promise<void> => {
        await isAccessible(t, page, name)
        t.ok(await page.evaluate<number>('document.documentElement.scrollWidth') <= width, `${name} fits`)
      }
      await page.goto(`/console/sign-on?company=${code}`)
      await fits('the code')
      await signInAt(page, '/console/company/single-sign-on', admin)
      await fits('the settings')
      await page.goto('/console/sessions')
      await fits('the sessions')
      provider.person = { sub: `own account ${locale}` }
      await page.click('form[action="/console/sign-on/link"] button')
      await page.waitForURL(`${front.url}/console/sign-on/link`)
      await page.locator('main [name=proof]').waitFor()
      await fits('the question whether the account is linked')
      provider.person = { sub: locale, email: `${locale}@example.com`, email_verified: true }
      await guest.goto('/console/sign-in')
      await guest.click('main a[href^="/console/sign-on"]')
      await guest.fill('#f-company', code)
      await guest.click('main button')
      await guest.click(`main a[href^="${issuer}"]`)
      await guest.waitForURL(`${front.url}/console/test`)
      t.equal(await guest.textContent('.account a'), `${locale}@example.com`)
      await Promise.all([context.close(), plain.close()])
    })
  }
}

if (browser !== undefined) {
  for (const javaScriptEnabled of [false, true]) {
    await t.test(`what waits for its author is there after a sign-in by the provider (${javaScriptEnabled ? 'script' : 'no script'})`, async (t) => {
      const { code } = await founded()
      provider.person = {
        sub: `writer ${String(javaScriptEnabled)}`,
        email: `writer-${String(javaScriptEnabled)}@example.com`,
        email_verified: true
      }
      const context = await browser.newContext({ baseURL: front.url, locale: 'en', javaScriptEnabled })
      const page = await context.newPage()
      const signOnAt = async (tab: typeof page): Promise<void> => {
        await tab.fill('#f-company', code)
        await tab.click('main button')
        await tab.click(`main a[href^="${issuer}"]`)
      }
      await page.goto('/console/sign-on?next=/console/send?template=20')
      await signOnAt(page)
      await page.waitForURL('**/console/send?template=20*')
      await page.fill('[name="data.message"]', 'Written before')
      await context.clearCookies()
      await page.click('button[formaction="/console/send/dispatch"]')
      await page.getByText(en.keptWaits).waitFor()
      const [beside] = await Promise.all([context.waitForEvent('page'), page.click('main a[href^="/console/sign-on"]')])
      await signOnAt(beside)
      await beside.waitForURL('**/console/kept')
      t.ok(await beside.getByText(en.keptGoBack.split('{')[0] ?? '').isVisible())
      await page.getByRole('button', { name: en.keptSignedIn }).click()
      await page.getByRole('button', { name: en.keptShow }).click()
      t.equal(await page.inputValue('[name="data.message"]'), 'Written before')
      await context.close()
    })
  }
}

await t.test('the secret of the client is nowhere but at the provider, and nothing failed', async (t) => {
  const rows = Object.values(await dump(app)).flat().join('\n')
  for (const text of [rows, service.log.join('\n')]) lacks(t, text, client.clientSecret)
  hasNoFault(t, service)
})
