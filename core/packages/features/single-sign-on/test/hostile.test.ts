import { sql } from 'kysely'
import t, { type Test } from 'tap'
import { type Forgery, type Issuer, type Mischief, startIssuer } from '../../../../../test/hostile/issuer.ts'
import { dump, hasNoFault } from '../../../../../test/hostile/support.ts'
import { openConsole } from '../../../../../test/plugins/support/console.ts'
import { startFront } from '../../../../../test/plugins/support/front.ts'
import { contains, has, lacks, matches } from '../../../../../test/support/matching.ts'
import { type Answer, type Login, startService } from '../../../../../test/support/service.ts'
import { tablesIn } from '../store/tables.ts'

// Two companies with issuers of their own. Whoever runs "evil" would be a user of the other company, or of no company at all.

const clock = { now: new Date() }
const front = await startFront(t)
const service = await startService(t, { config: { publicUrl: front.url }, replacements: { now: () => clock.now } })
front.leadTo(service.url)
const { app, send } = service
const { owner } = app.get('database')
const console = openConsole(service)
const [honest, evil] = [await startIssuer(t, front.url, 'client-of-b'), await startIssuer(t, front.url, 'client-of-a')]
const shared = `${front.url}/console/sign-on/callback`
const path = '/api/v1/company/single-sign-on'

type Company = { companyId: number, admin: Login, member: Login, operator: Login }
type SignOn = Company & { code: string, redirectUri: string, issuer: Issuer, set: (more?: object) => Promise<Answer> }
let companies = 0

/** A company whose admin has set single sign-on by this issuer, where it is registered. */
async function founded (issuer: Issuer, changes: object = {}): Promise<SignOn> {
  issuer.mischief = {}
  const company = await service.company(`hostile${String(++companies)}`)
  const set = (more: object = {}): Promise<Answer> => {
    const body = { issuer: issuer.issuer, ...issuer.client, createsUsers: true, defaultServices: ['sms'], ...changes, ...more }
    return send('PUT', path, { body }, company.admin)
  }
  const { body: { redirectUri, current } } = await set()
  issuer.register(redirectUri as string)
  return { ...company, code: current.code as string, redirectUri: redirectUri as string, issuer, set }
}

/** A browser with its cookies. */
function openBrowser () {
  const jar = new Map<string, string>()
  async function noting (answer: Promise<Answer>): Promise<Answer> {
    const got = await answer
    for (const line of got.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '') jar.delete(name)
      else jar.set(name, value)
    }
    return got
  }
  const cookie = (): string => [...jar].map((pair) => pair.join('=')).join('; ')
  return {
    jar,
    open: (path: string) => noting(console.open(path, cookie())),
    post: (path: string, fields: Record<string, string>) => noting(console.post(path, fields, cookie())),
    isSignedIn: () => jar.has('__Host-console')
  }
}
type Browser = ReturnType<typeof openBrowser>

/** Where a browser is sent that begins to sign in; null where the issuer cannot be used. */
async function tryLeave (browser: Browser, code: string): Promise<URL | null> {
  const { body } = await browser.post('/sign-on', { company: code, next: '/console' })
  return URL.parse((/<a href="(http:[^"]+)"/.exec(String(body))?.[1] ?? '').replaceAll('&amp;', '&'))
}
async function leave (browser: Browser, code: string): Promise<URL> {
  const url = await tryLeave(browser, code)
  if (url === null) throw new Error('The issuer cannot be used.')
  return url
}
const comeBack = (browser: Browser, { pathname, search }: URL): Promise<Answer> =>
  browser.open(`${pathname.replace('/console', '')}${search}`)

/** Signs a person in; their browser, whether or not it was let in. */
async function signOn ({ code, issuer }: Pick<SignOn, 'code' | 'issuer'>, person: Issuer['person'], mischief: Mischief = {}) {
  issuer.mischief = mischief
  issuer.person = person
  const browser = openBrowser()
  const url = await tryLeave(browser, code)
  const back = url === null ? undefined : await issuer.visit(url.href)
  if (back !== undefined) await comeBack(browser, back)
  return browser
}
const usersOf = async ({ admin }: Pick<Company, 'admin'>): Promise<string[]> =>
  ((await send('GET', '/api/v1/users', {}, admin)).body.data as Login[]).map(({ email }) => email)
const whoIsAt = async (browser: Browser): Promise<string> => String((await browser.open('/sessions')).body)

/** The client of a company is registered with the address that all shared, as those were that are older than addresses of their own. */
async function sharing ({ companyId, issuer }: SignOn): Promise<void> {
  await tablesIn(owner).updateTable('single_sign_on').set({ shared_until: new Date(clock.now.getTime() + 86_400_000) })
    .where('company_id', '=', companyId).execute()
  issuer.register(shared)
}

let people = 0
/** Somebody whom nobody knows yet. */
function somebody () {
  const name = `victim${String(++people)}`
  return { sub: name, email: `${name}@b.example`, email_verified: true }
}

/** A person of `b` opens the link of `a`, whose issuer sends them on to that of `b` with what the attacker has prepared. */
async function lure (
  t: Test,
  a: SignOn,
  b: SignOn,
  { at = b.redirectUri, evilly = {} }: { at?: string, evilly?: Mischief } = {}
): Promise<Answer> {
  const [attacker, victim] = [openBrowser(), openBrowser()]
  const prepared = (await leave(attacker, b.code)).searchParams
  evil.shown.length = 0
  evil.mischief = {
    sendsTo: (requested) => {
      const query = { ...Object.fromEntries(prepared), redirect_uri: at, state: requested.get('state') ?? '' }
      return `${honest.issuer}/authorize?${String(new URLSearchParams(query))}`
    },
    ...evilly
  }
  const seen = await victim.open(`/sign-on?company=${a.code}`)
  const left = await leave(victim, a.code)
  const back = await evil.visit(left.href)
  evil.mischief = { ...evil.mischief, published: {} }
  if (back === undefined) return seen
  await comeBack(victim, back)
  t.same(evil.shown, [], 'the code of the person is not shown to the other issuer')
  t.notOk(victim.isSignedIn())
  // What the attacker would do with it.
  for (const state of [prepared.get('state') ?? '', back.searchParams.get('state') ?? '']) {
    const stolen = new URL(back)
    stolen.searchParams.set('state', state)
    await comeBack(victim, stolen)
    t.notOk(victim.isSignedIn(), 'another state')
  }
  t.same(evil.shown, [])
  return seen
}

await t.test('mix-up: a code comes to the issuer alone that gave it, whatever another company\'s issuer does with a browser', async (t) => {
  const [a, b, person] = [await founded(evil), await founded(honest), somebody()]
  t.ok((await signOn(b, person)).isSignedIn(), 'the person signs in rightly')
  t.not(a.redirectUri, b.redirectUri)
  for (const namesItself of [false, true]) {
    honest.namesItself = namesItself
    const name = namesItself ? 'an issuer that names itself' : 'an issuer that does not name itself'
    const { body } = await lure(t, a, b)
    for (const part of [`hostile${String(companies - 1)}`, evil.issuer]) contains(t, body, part, 'the page before says whose it is')
    await lure(t, a, b, { at: a.redirectUri })
    await lure(t, a, b, { evilly: { published: { authorization_endpoint: `${honest.issuer}/authorize` } } })
    await a.set({ clientId: honest.client.clientId })
    await lure(t, a, b, { evilly: { published: { authorization_endpoint: `${honest.issuer}/authorize` } } })
    await a.set()

    // The other company is registered at the address that all shared; the attacker's is, or was.
    await sharing(b)
    await lure(t, a, b, { at: shared })
    await sharing(a)
    await lure(t, a, b, { at: shared })
    // It says that it names itself when the browser leaves, and takes it back when it comes.
    await lure(t, a, b, { at: shared, evilly: { published: { authorization_response_iss_parameter_supported: true } } })
    matches(t, (await send('GET', path, {}, b.admin)).body.current.shared.redirectUri, shared, name)
    await b.set({ address: 'own' })
  }
  honest.namesItself = false
})

await t.test('the address that all shared is used until its time is over, and where the issuer names itself alone', async (t) => {
  const b = await founded(honest)
  await sharing(b)
  const addressOf = async (): Promise<string | null> => (await leave(openBrowser(), b.code)).searchParams.get('redirect_uri')
  t.equal(await addressOf(), b.redirectUri, 'the issuer does not name itself')
  honest.namesItself = true
  t.equal(await addressOf(), shared)
  t.ok((await signOn(b, somebody())).isSignedIn())
  const browser = openBrowser()
  const back = await honest.visit((await leave(browser, b.code)).href)
  for (const iss of ['', evil.issuer]) {
    const altered = new URL(back ?? '')
    altered.searchParams.set('iss', iss)
    await comeBack(browser, altered)
    t.notOk(browser.isSignedIn(), `the name "${iss}"`)
  }
  await b.set({ defaultServices: [] })
  t.equal(await addressOf(), shared, 'another change leaves it')
  await b.set({ address: 'own' })
  t.equal(await addressOf(), b.redirectUri, 'the admin has registered the other')
  t.equal((await send('GET', path, {}, b.admin)).body.current.shared, null)
  await sharing(b)
  await b.set({ clientId: 'another' })
  t.equal(await addressOf(), b.redirectUri, 'another client')
  await b.set()
  await sharing(b)
  clock.now = new Date(clock.now.getTime() + 86_400_000)
  t.equal(await addressOf(), b.redirectUri, 'its time is over')
  honest.namesItself = false
})

await t.test('what the release before has set, or sets beside this one, may go on with the shared address for 90 days', async (t) => {
  const b = await founded(honest)
  t.equal((await send('GET', path, {}, b.admin)).body.current.shared, null)
  const { rows } = await sql<{ days: number }>`update single_sign_on set shared_until = default where company_id = ${b.companyId}
    returning extract(days from shared_until - now())::integer as days`.execute(owner)
  t.same(rows, [{ days: 90 }])
})

await t.test('the address belongs to the company and the issuer, and is known before the issuer is set', async (t) => {
  const [a, b] = [await founded(honest), await founded(honest)]
  const addressOf = async (issuer: string, { admin }: Company = a): Promise<string> =>
    (await send('GET', `${path}?${String(new URLSearchParams({ issuer }))}`, {}, admin)).body.redirectUri as string
  t.equal(await addressOf(honest.issuer), a.redirectUri)
  t.equal(await addressOf(honest.issuer, b), b.redirectUri)
  t.equal(new Set([a.redirectUri, b.redirectUri, await addressOf(evil.issuer), await addressOf(evil.issuer, b)]).size, 4)
  const next = await addressOf(evil.issuer)
  has(t, (await a.set({ issuer: evil.issuer, ...evil.client })).body, { redirectUri: next })
  has(t, (await a.set()).body, { redirectUri: a.redirectUri })
  await send('DELETE', path, {}, a.admin)
  has(t, (await send('GET', path, {}, a.admin)).body, { redirectUri: null, current: null })
})

await t.test('code injection: a code counts in the browser and for the sign-in that it was given to', async (t) => {
  const b = await founded(honest)
  honest.person = somebody()
  const [one, two] = [openBrowser(), openBrowser()]
  const [back, other] = [await honest.visit((await leave(one, b.code)).href), await honest.visit((await leave(two, b.code)).href)]
  const with_ = (own: URL | undefined, given: URL | undefined): URL => {
    const made = new URL(own ?? '')
    made.searchParams.set('code', given?.searchParams.get('code') ?? '')
    return made
  }
  await comeBack(openBrowser(), back!)
  await comeBack(two, with_(other, back))
  t.notOk(two.isSignedIn(), 'the code of another browser')
  await comeBack(one, other!)
  t.notOk(one.isSignedIn(), 'somebody else\'s whole answer')
})

await t.test('nonce and state count once, for what is set, and for this company', async (t) => {
  const [a, b] = [await founded(evil), await founded(honest)]
  evil.person = somebody()
  evil.mischief = { takesAnyCode: true }
  const browser = openBrowser()
  const back = await evil.visit((await leave(browser, a.code)).href)
  const cookies = new Map(browser.jar)
  const again = async (): Promise<boolean> => {
    const other = openBrowser()
    for (const [name, value] of cookies) other.jar.set(name, value)
    await comeBack(other, back!)
    return other.isSignedIn()
  }
  const answers = await Promise.all([again(), again(), again()])
  t.equal(answers.filter(Boolean).length, 1, 'of several at once one counts, though the issuer takes the code again')
  t.notOk(await again())

  const changed = openBrowser()
  const late = await evil.visit((await leave(changed, a.code)).href)
  clock.now = new Date(clock.now.getTime() + 1000)
  await a.set({ defaultRole: 'admin' })
  await comeBack(changed, late!)
  t.notOk(changed.isSignedIn(), 'what was begun before a change has ended')

  const both = openBrowser()
  const first = await evil.visit((await leave(both, a.code)).href)
  await leave(both, b.code)
  await comeBack(both, first!)
  t.notOk(both.isSignedIn(), 'an answer to one company while the other has begun')
})

/** Tokens that no honest issuer makes for this client and this sign-in. */
const forgeries: Record<string, Forgery> = {
  'of another client': { claims: { aud: 'another' } },
  'for several clients': { claims: { aud: ['client-of-b', 'another'] } },
  'asked for by another client': { claims: { aud: ['client-of-b', 'another'], azp: 'another' } },
  'of another issuer': { claims: { iss: 'https://accounts.example.com' } },
  'of an issuer with a slash': { claims: { iss: `${honest.issuer}/` } },
  'of nobody': { without: ['iss'] },
  'for nobody': { without: ['aud'] },
  'without a nonce': { without: ['nonce'] },
  'with the nonce of another sign-in': { claims: { nonce: 'x'.repeat(43) } },
  'that has expired': { claims: { exp: 1 } },
  'that never expires': { without: ['exp'] },
  'that expires in words': { claims: { exp: '9999999999' } },
  'that is of no time': { without: ['iat'] },
  'that is not valid yet': { claims: { nbf: 99_999_999_999 } },
  'that is not signed': { header: { alg: 'none', kid: undefined }, signed: 'not' },
  'whose signature is empty': { signed: 'not' },
  'signed by another key': { signed: 'by another key' },
  'that brings its own key': { header: { jwk: { kty: 'oct', k: 'AA' }, kid: undefined }, signed: 'by another key' },
  'that says where its key is': { header: { jku: `${evil.issuer}/jwks`, kid: undefined }, signed: 'by another key' },
  'of an unknown key': { header: { kid: 'another' } },
  'whose public key is taken for a secret': { header: { alg: 'HS256' }, signed: 'with the public key' },
  'signed with the secret of the client': { header: { alg: 'HS256' }, signed: 'with the secret' },
  'that demands what nobody understands': { header: { crit: ['x'], x: 1 } },
  'of no subject': { without: ['sub'] },
  'of an empty subject': { claims: { sub: '' } },
  'of a subject that is a number': { claims: { sub: 7 } },
  'of a list of subjects': { claims: { sub: ['victim'] } },
  'of a subject beyond ASCII': { claims: { sub: 'víctim' } },
  'of a subject that is too long': { claims: { sub: 'v'.repeat(256) } }
}

await t.test('an ID token lets nobody in that is not signed by the issuer, for this client, person and sign-in', async (t) => {
  const [b, person] = [await founded(honest), somebody()]
  t.ok((await signOn(b, person)).isSignedIn())
  for (const [name, token] of Object.entries(forgeries)) t.notOk((await signOn(b, person, { token })).isSignedIn(), `a token ${name}`)
  for (const algorithms of [['none', 'RS256'], ['RS256', 'HS256'], undefined]) {
    const published = { id_token_signing_alg_values_supported: algorithms }
    for (const name of ['that is not signed', 'whose public key is taken for a secret', 'signed with the secret of the client'] as const) {
      const token = forgeries[name] ?? {}
      t.notOk((await signOn(b, person, { token, published })).isSignedIn(), `a token ${name}, of ${String(algorithms)}`)
    }
  }
  t.ok((await signOn(b, person)).isSignedIn(), 'nothing has changed')
})

await t.test('the same subject of another issuer is another person, also when the company has changed its issuer', async (t) => {
  const [a, b, person] = [await founded(evil), await founded(honest), somebody()]
  await signOn(b, person)
  contains(t, await whoIsAt(await signOn(b, person)), person.email)
  t.notOk((await signOn(a, person)).isSignedIn(), 'of another company, which makes no user of this address')
  const other = { ...person, email: 'other@a.example' }
  lacks(t, await whoIsAt(await signOn(a, other)), person.email)
  const { body: { redirectUri } } = await b.set({ issuer: evil.issuer, ...evil.client })
  evil.register(redirectUri as string)
  t.notOk((await signOn({ code: b.code, issuer: evil }, person)).isSignedIn(), 'the address is a user\'s already')
  lacks(t, await whoIsAt(await signOn({ code: b.code, issuer: evil }, { ...person, email: 'third@b.example' })), person.email)
})

await t.test('an issuer publishes no other name, no script and nothing internal; foreign endpoints let nobody in', async (t) => {
  const a = await founded(evil)
  const begun = async (published: Record<string, unknown>): Promise<string> => {
    evil.mischief = { published }
    return String((await openBrowser().post('/sign-on', { company: a.code, next: '/console' })).body)
  }
  for (const authorization of ['javascript:alert(1)', 'data:text/html,x', '//x', `ftp://127.0.0.1/`]) {
    lacks(t, await begun({ authorization_endpoint: authorization }), '<a href="' + authorization.slice(0, 4), authorization)
  }
  lacks(t, await begun({ authorization_endpoint: `${evil.issuer}/"><script>alert(1)</script>` }), '<script>alert')
  const foreign: Record<string, Record<string, unknown>> = {
    'another issuer\'s name': { issuer: honest.issuer },
    'another issuer\'s keys': { jwks_uri: `${honest.issuer}/jwks` },
    'another issuer\'s token endpoint': { token_endpoint: `${honest.issuer}/token` },
    'an internal token endpoint': { token_endpoint: 'https://10.0.0.1/token' },
    'no token endpoint': { token_endpoint: undefined },
    'internal keys': { jwks_uri: 'https://169.254.169.254/' },
    'no keys': { jwks_uri: undefined }
  }
  for (const [name, published] of Object.entries(foreign)) {
    t.notOk((await signOn(a, { sub: 'x', email: `x${String(companies)}@a.example`, email_verified: true }, { published })).isSignedIn(),
      name)
  }
  const claimed = somebody()
  for (const userinfo of [{ ...claimed, sub: 'another' }, { ...claimed, sub: undefined }]) {
    t.notOk(
      (await signOn(a, claimed, { token: { without: ['email'] }, userinfo, published: { userinfo_endpoint: `${evil.issuer}/userinfo` } }))
        .isSignedIn(),
      'claims of another subject'
    )
  }
  t.ok(honest.shown.length > 0 && !honest.shown.some((code) => evil.shown.includes(code)))
})

await t.test('a user is made of an address that the issuer has verified, as the boolean true, or that the admin trusts', async (t) => {
  const a = await founded(evil)
  const values: unknown[] = [false, 'true', 'false', 0, 1, null, [true], {}]
  const made = async (email_verified: unknown, name: string, without: string[] = []): Promise<boolean> => {
    const email = `${name}@new.example`
    const browser = await signOn(a, { sub: name, email, email_verified }, { token: { without } })
    t.equal((await usersOf(a)).includes(email), browser.isSignedIn(), 'a user is made or not')
    return browser.isSignedIn()
  }
  for (const [index, value] of values.entries()) t.notOk(await made(value, `v${String(index)}`), JSON.stringify(value))
  t.notOk(await made(true, 'silent', ['email_verified']), 'the issuer does not say')
  t.ok(await made(true, 'verified'))
  await a.set({ trustsEmail: true })
  t.ok(await made(true, 'trusted', ['email_verified']), 'where the admin trusts it')
  for (const [index, value] of values.entries()) t.notOk(await made(value, `t${String(index)}`), `${JSON.stringify(value)}, trusted`)
  await a.set({ trustsEmail: true, linksByEmail: true })
  t.notOk((await signOn(a, { sub: 'link', email: a.member.email })).isSignedIn(), 'a user who is there needs a verified one all the same')
  t.notOk((await signOn(a, { sub: 'link', email: a.member.email, email_verified: 'true' })).isSignedIn())
  t.ok((await signOn(a, { sub: 'link', email: a.member.email, email_verified: true })).isSignedIn())
})

await t.test('no user is made of an address that another company has, by its domain or by a user', async (t) => {
  const [a, b] = [await founded(evil), await founded(honest)]
  const domain = `b${String(b.companyId)}.example`
  await send('PUT', `/api/v1/companies/${String(b.companyId)}/domains`, { body: { domains: [domain] } }, b.operator)
  const tried = async (company: SignOn, email: string): Promise<boolean> =>
    (await signOn(company, { sub: email, email, email_verified: true })).isSignedIn()
  await a.set({ trustsEmail: true })
  for (const email of [`ceo@${domain}`, `CEO@${domain.toUpperCase()}`, b.member.email, b.member.email.toUpperCase(), b.operator.email]) {
    t.notOk(await tried(a, email), email)
  }
  t.same((await usersOf(a)).filter((email) => email.endsWith(domain)), [])
  t.ok(await tried(b, `ceo@${domain}`), 'the company itself makes it')
  // Nor does an admin make, invite or name one; and who was there before keeps nobody out of the company whose domain it is.
  const email = `cfo@${domain}`
  const { data } = (await send('GET', '/api/v1/users', {}, a.admin)).body as { data: { id: number, email: string }[] }
  const member = data.find((one) => one.email === a.member.email)?.id ?? 0
  for (const [method, path, body] of [
    ['POST', '/api/v1/users', { email, password: 'correct horse battery', role: 'member', services: [] }],
    ['POST', '/api/v1/company/invitations', { email: email.toUpperCase(), role: 'member', services: [] }],
    ['PUT', `/api/v1/users/${String(member)}`, { email }]
  ] as const) has(t, await send(method, path, { body }, a.admin), { status: 409, body: { message: /belongs to another company/ } })
  const invited = await send('POST', '/api/v1/company/invitations', { body: { email, role: 'member', services: [] } }, b.admin)
  t.equal(invited.status, 201, 'the company itself')
  const sold = `sold${String(b.companyId)}.example`
  const before = await send('POST', '/api/v1/company/invitations', { body: { email: `ceo@${sold}`, role: 'member', services: [] } },
    a.admin)
  await send('PUT', `/api/v1/companies/${String(b.companyId)}/domains`, { body: { domains: [domain, sold] } }, b.operator)
  const { token, id } = before.body as { token: string, id: string }
  t.equal((await send('POST', '/auth/links/use', { body: { token, password: 'correct horse battery' } }, null)).status, 404)
  t.equal((await send('POST', `/api/v1/company/invitations/${id}/renew`, {}, a.admin)).status, 409)
  await owner.updateTable('users').set({ email }).where('user_id', '=', member).execute()
  t.ok(await tried(b, `cfo@${domain}`), 'though there is a user elsewhere')
})

await t.test('a sign-on is a proof as of the time that the provider tells, or where it was asked for a new one', async (t) => {
  // The proof is compared with the clock of the database.
  clock.now = new Date()
  const b = await founded(honest)
  const seconds = (ago: number): number => Math.floor(clock.now.getTime() / 1000) - ago
  const key = { newest: '', name: 'shop', mode: 'live', scope: 'send', service: 'sms' }
  const proofs: [fresh: boolean, told: object, opens: 'everything' | 'but what needs a proof' | 'nothing', asked: string | null][] = [
    [false, {}, 'but what needs a proof', null],
    [false, { auth_time: seconds(3_600) }, 'but what needs a proof', null],
    [false, { auth_time: seconds(60) }, 'everything', null],
    [true, { auth_time: seconds(10) }, 'everything', '300'],
    [true, { auth_time: seconds(3_600) }, 'nothing', '300'],
    [true, { auth_time: 'now' }, 'nothing', '300'],
    // Such a provider does not keep to the standard, which wants the claim where it is asked for.
    [true, {}, 'everything', '300']
  ]
  const person = somebody()
  for (const [fresh, reported, opens, requested] of proofs) {
    const name = JSON.stringify([fresh, reported])
    honest.mischief = { token: { claims: { ...reported } } }
    honest.person = person
    const browser = openBrowser()
    const page = await browser.open(`/sign-on?company=${b.code}${fresh ? '&fresh=on' : ''}`)
    t.equal(String(page.body).includes('name="fresh"'), fresh)
    const { body } = await browser.post('/sign-on', { company: b.code, next: '/console', ...fresh && { fresh: 'on' } })
    const url = new URL((/<a href="(http:[^"]+)"/.exec(String(body))?.[1] ?? '').replaceAll('&amp;', '&'))
    t.equal(url.searchParams.get('max_age'), requested, name)
    const back = await honest.visit(url.href)
    if (back === undefined) throw new Error('The issuer refuses.')
    await comeBack(browser, back)
    t.equal(browser.isSignedIn(), opens !== 'nothing', name)
    if (opens === 'nothing') continue
    const asks = (await browser.post('/developers/keys', key)).status === 403
    t.equal(asks, opens === 'but what needs a proof', name)
  }
})

await t.test('no secret, code or token stands in a row or a log, and nothing of it was a fault', async (t) => {
  const rows = Object.values(await dump(app)).flat().join('\n')
  const secrets = [honest.client.clientSecret, evil.client.clientSecret, ...honest.shown.filter((code) => code.length > 30)]
  for (const text of [rows, service.log.join('\n')]) for (const secret of secrets) lacks(t, text, secret)
  hasNoFault(t, service)
})
