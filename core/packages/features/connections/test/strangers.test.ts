import { sql } from 'kysely'
import { hash, randomUUID } from 'node:crypto'
import t from 'tap'
import { Type } from 'typebox'
import { dump, hasNoFault } from '../../../../../test/hostile/support.ts'
import { openConsole } from '../../../../../test/plugins/support/console.ts'
import { testProviders } from '../../../../../test/plugins/support/providers.ts'
import { contains, has, lacks } from '../../../../../test/support/matching.ts'
import { type Answer, type Login, startService } from '../../../../../test/support/service.ts'
import { vendorOf } from '../../../../../test/support/vendor.ts'

// Two vendors, of which one would have the codes of the other; and people who would have somebody else's account connected.

const { vendor, network } = await vendorOf(t)
const providers = await testProviders(t)
for (const code of ['books', 'evil']) {
  const connect = {
    authorizationUrl: `https://api.vendor.example/${code}/authorize`,
    tokenUrl: `https://api.vendor.example/${code}/token`,
    clientId: 'clientId'
  }
  await providers.add(code, {
    settings: '{ clientId: Type.String() }',
    errors: '{ at: \'/code\', message: \'/message\', map: {} }',
    more: `connect: ${JSON.stringify(connect)},`
  }, (_request, { http }) =>
    http.post('https://api.vendor.example/invoices', { oauth2: { grant: 'authorization_code' }, json: {} },
      Type.Object({ id: Type.String(), status: Type.String() })))
}
const service = await startService(t, { config: { providerDirectories: providers.directories }, replacements: { network } })
const { app, send } = service
const callbackOf = (code: string): string => `https://dispatch.example.com/api/connect/${code}/callback`

/** What a person has allowed at the page of "books", by its code. */
const allowed = new Map<string, URLSearchParams>()
/** The page of a strict vendor, at which somebody is signed in who allows all that their browser is sent with. */
function allow (requested: URLSearchParams): string {
  if (requested.get('redirect_uri') !== callbackOf('books') || requested.get('code_challenge_method') !== 'S256') throw new Error('refused')
  const code = randomUUID()
  allowed.set(code, requested)
  return code
}
vendor.on('POST /books/token', ({ form = {} }) => {
  const requested = allowed.get(form['code'] ?? '')
  allowed.delete(form['code'] ?? '')
  const isRight = requested?.get('redirect_uri') === form['redirect_uri'] &&
    requested?.get('code_challenge') === hash('sha256', form['code_verifier'] ?? '', 'base64url')
  return isRight ? { json: { access_token: randomUUID(), expires_in: 3600 } } : { status: 400, json: { error: 'invalid_grant' } }
})
vendor.on('POST /evil/token', { status: 400, json: { error: 'invalid_grant' } })

type Whose = 'company' | 'my'
const configure = (code: string, login: Login, whose: Whose = 'company'): Promise<Answer> =>
  send('PUT', `/api/v1/${whose}/providers/${code}`, { body: { settings: { clientId: `client of ${code}` } } }, login)
async function begin (code: string, login: Login, whose: Whose = 'company'): Promise<URLSearchParams> {
  return new URL((await send('GET', `/api/v1/${whose}/providers/${code}/connect`, {}, login)).body.url as string).searchParams
}
const come = async (code: string, query: Record<string, string>): Promise<string> =>
  String((await send('GET', `/api/connect/${code}/callback?${String(new URLSearchParams(query))}`, {}, null)).body)
const confirmationIn = (page: string): string => /"confirmation": "([\w-]{43})"/.exec(page)?.[1] ?? ''
const confirm = (code: string, confirmation: string, login: Login, whose: Whose = 'company'): Promise<Answer> =>
  send('POST', `/api/v1/${whose}/providers/${code}/connect`, { body: { confirmation } }, login)
const requested = (path: string): number => vendor.requests.filter((request) => request.path === path).length
const connections = async (): Promise<number> => (await sql`select from connections`.execute(app.get('database').owner)).rows.length
const nothing = /There is nothing to connect here/

const [a, b] = [await service.company('attacker'), await service.company('victim')]
for (const { admin } of [a, b]) for (const code of ['books', 'evil']) await configure(code, admin)

await t.test('mix-up: a code that comes to the address of a vendor is shown to no other', async (t) => {
  const evilly = await begin('evil', b.admin)
  // The evil page sends the browser on to the other vendor, as the client of the company there.
  const code = allow(
    new URLSearchParams({ ...Object.fromEntries(evilly), client_id: 'client of books', redirect_uri: callbackOf('books') })
  )
  const state = evilly.get('state') ?? ''
  for (const at of ['books', 'another']) contains(t, await come(at, { code, state }), nothing, `${at} has not begun this`)
  const rightly = await begin('books', b.admin)
  contains(t, await come('evil', { code: allow(rightly), state: rightly.get('state') ?? '' }), nothing,
    'nor has the evil one begun the other')
  t.same([requested('/evil/token'), requested('/books/token'), await connections()], [0, 0, 0])
})

await t.test('code injection: a code is of use only to what it was asked for', async (t) => {
  const [theirs, own] = [await begin('books', b.admin), await begin('books', a.admin)]
  const stolen = allow(theirs)
  const confirmation = confirmationIn(await come('books', { code: stolen, state: own.get('state') ?? '' }))
  has(t, await confirm('books', confirmation, a.admin), { status: 422, body: { error: 'authentication_error' } }, 'a stolen code')
  t.equal(await connections(), 0)
  // Of the company and of one of its people, who have the same client.
  await configure('books', a.member, 'my')
  const [ofCompany, ofMember] = [await begin('books', a.admin), await begin('books', a.member, 'my')]
  const other = confirmationIn(await come('books', { code: allow(ofCompany), state: ofMember.get('state') ?? '' }))
  has(t, await confirm('books', other, a.member, 'my'), { status: 422, body: { error: 'authentication_error' } }, 'the company\'s code')
  t.equal(await connections(), 0)
})

await t.test('a state counts once, and its confirmation for who has begun', async (t) => {
  const own = await begin('books', a.admin)
  const state = own.get('state') ?? ''
  const pages = await Promise.all([1, 2, 3].map(() => come('books', { code: allow(own), state })))
  t.equal(pages.filter((page) => confirmationIn(page) !== '').length, 1, 'of several answers at once one counts')
  const confirmation = confirmationIn(pages.find((page) => confirmationIn(page) !== '') ?? '')
  contains(t, await come('books', { error: 'access_denied', state }), nothing, 'nor does a refusal end it')
  for (const [who, login] of Object.entries({ victim: b.admin, member: a.member })) {
    t.not((await confirm('books', confirmation, login)).status, 200, who)
  }
  t.not((await confirm('evil', confirmation, a.admin)).status, 200, 'another provider')
  t.not((await confirm('books', confirmation, a.member, 'my')).status, 200, 'another configuration')
  const once = await Promise.all([1, 2, 3].map(() => confirm('books', confirmation, a.admin)))
  t.equal(once.filter(({ status }) => status === 200).length, 1)
  t.equal(await connections(), 1)
})

await t.test('who acts as somebody connects nothing in their name: neither begins it, nor confirms what they have begun', async (t) => {
  const users = (await send('GET', '/api/v1/users', {}, b.admin)).body.data as (Login & { id: number })[]
  const member = users.find(({ email }) => email === b.member.email)
  await configure('books', b.member, 'my')
  const own = await begin('books', b.member, 'my')
  const confirmation = confirmationIn(await come('books', { code: allow(own), state: own.get('state') ?? '' }))
  const before = [requested('/books/token'), await connections()]
  const { body: { data: { token } } } = await send('POST', '/auth/impersonate', { body: { userId: member?.id } }, b.admin)
  const headers = { authorization: `Bearer ${String(token)}` }
  const at = '/api/v1/my/providers/books/connect'
  const refused = { status: 403, body: { error: 'forbidden', message: /Only users themselves/ } }
  has(t, await send('GET', at, { headers }, null), refused)
  has(t, await send('POST', at, { headers, body: { confirmation } }, null), refused)
  const { signIn, open, post } = openConsole(service)
  const cookie = await signIn(a.operator)
  const admins = (await send('GET', '/api/v1/users', {}, b.admin)).body.data as (Login & { id: number })[]
  const admin = String(admins.find(({ email }) => email === b.admin.email)?.id)
  await post(`/act/${admin}`, {}, cookie)
  t.equal((await open('/providers/books/connect', cookie)).status, 403)
  t.equal((await post('/providers/books/connected', { confirmation, ':as': admin }, cookie)).status, 403)
  lacks(t, (await open('/providers/books', cookie)).body, 'href="/console/providers/books/connect"')
  t.same([requested('/books/token'), await connections()], before)
  t.equal((await confirm('books', confirmation, b.member, 'my')).status, 200, 'the person themselves does')
})

await t.test('no code, state or confirmation stands in a row or a log, and nothing of it was a fault', async (t) => {
  const own = await begin('books', b.admin)
  const [code, state] = [allow(own), own.get('state') ?? '']
  const confirmation = confirmationIn(await come('books', { code, state }))
  const rows = Object.values(await dump(app)).flat().join('\n')
  for (const text of [rows, service.log.join('\n')]) for (const secret of [code, state, confirmation]) lacks(t, text, secret)
  hasNoFault(t, service)
})
