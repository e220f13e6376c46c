import t, { type Test } from 'tap'
import { dump, hasNoFault, isError } from '../../../../../test/hostile/support.ts'
import { openConsole } from '../../../../../test/plugins/support/console.ts'
import { has, lacks, matches } from '../../../../../test/support/matching.ts'
import { type Answer, type Login, startService } from '../../../../../test/support/service.ts'
import { tablesIn } from '../store/links.ts'

const clock = { now: new Date('2026-03-14T09:00:00Z') }
const service = await startService(t, { replacements: { now: () => clock.now } })
const { send } = service
const { signIn, open } = openConsole(service)
const day = 86_400_000
const password = 'correct horse battery'
const made: string[] = []
let companies = 0

/** A company of its own, with its users and their ids. */
async function founded () {
  const company = await service.company(`links${String(++companies)}`)
  const { data } = (await send('GET', '/api/v1/users', {}, company.operator)).body
  const idOf = (login: Login): number => data.find(({ email }: { email: string }) => email === login.email).id
  return { ...company, idOf }
}

const guest = { email: 'Grace@Example.com', role: 'member', services: ['email'] }
async function invite (by: Login, invitation: object = guest): Promise<Answer> {
  return kept(await send('POST', '/api/v1/company/invitations', { body: invitation }, by))
}
async function reset (by: Login, id: number): Promise<Answer> {
  return kept(await send('POST', `/api/v1/users/${id}/password-link`, {}, by))
}
function kept (answer: Answer): Answer {
  if (typeof answer.body.token === 'string') made.push(answer.body.token as string)
  return answer
}
const read = (token: unknown): Promise<Answer> => send('POST', '/auth/links/read', { body: { token } }, null)
const use = (token: unknown, chosen = password): Promise<Answer> =>
  send('POST', '/auth/links/use', { body: { token, password: chosen } }, null)
const reaches = async (login: Login): Promise<boolean> => (await send('GET', '/healthz', {}, login)).status === 200

/** A link that is dead answers as one that never was. */
async function isDead (t: Test, token: unknown, name: string): Promise<void> {
  const never = await read('x'.repeat(43))
  for (const answer of [await read(token), await use(token)]) {
    isError(t, answer, 'not_found', name)
    t.equal(answer.body.message, never.body.message, name)
  }
}

await t.test('who has the link of an invitation chooses a password and is a user; the link is used up', async (t) => {
  const { admin } = await founded()
  const { status, headers, body } = await invite(admin)
  t.equal(status, 201)
  t.equal(headers.get('cache-control'), 'no-store')
  matches(t, body.token, /^[\w-]{43}$/)
  t.equal(body.url, `https://dispatch.example.com/console/link/${String(body.token)}`)
  has(t, body, { email: 'grace@example.com', role: 'member', services: ['email'], expired: false, expiresAt: '2026-03-21T09:00:00.000Z' })
  has(t, (await read(body.token)).body, { purpose: 'invitation', company: 'links1', email: 'grace@example.com' })
  isError(t, await use(body.token, 'short'), 'validation_error')
  isError(t, await use(body.token, 'grace@example.com'), 'validation_failed', 'the rules of passwords hold')
  t.equal((await use(body.token)).status, 204)
  await isDead(t, body.token, 'it is used up')
  const login = { email: 'grace@example.com', password }
  t.equal((await send('GET', '/api/v1/my/config', {}, login)).body.user.email, login.email)
  t.strictSame((await send('GET', '/api/v1/company/invitations', {}, admin)).body, { data: [], nextCursor: null })
  const { data } = (await send('GET', '/api/v1/audit', {}, admin)).body
  has(t, data, [{ action: 'invitation.accepted', facts: { email: login.email, role: 'member', services: ['email'] } }, {
    action: 'invitation.created'
  }])
  t.equal(data[0].object.id, String(data[0].author.userId), 'the author is who has accepted')
})

await t.test('one link makes one user, however many use it at once', async (t) => {
  const { admin } = await founded()
  const { body: { token } } = await invite(admin)
  const answers = await Promise.all(Array.from({ length: 6 }, () => use(token)))
  t.strictSame(answers.map(({ status }) => status).sort(), [204, 404, 404, 404, 404, 404])
})

await t.test('an invitation ends when it is withdrawn or renewed, and after seven days', async (t) => {
  const { admin } = await founded()
  const [first, second, third] = await Promise.all(['a', 'b', 'c'].map((name) => invite(admin, { ...guest, email: `${name}@example.com` })))
  t.equal((await send('DELETE', `/api/v1/company/invitations/${String(first?.body.id)}`, {}, admin)).status, 204)
  await isDead(t, first?.body.token, 'withdrawn')
  const renewed = kept(await send('POST', `/api/v1/company/invitations/${String(second?.body.id)}/renew`, {}, admin))
  has(t, renewed, { status: 200, body: { id: second?.body.id, email: 'b@example.com' } })
  await isDead(t, second?.body.token, 'renewed')
  t.equal((await read(renewed.body.token)).status, 200)
  clock.now = new Date(clock.now.getTime() + 7 * day)
  await isDead(t, third?.body.token, 'expired')
  has(t, (await send('GET', '/api/v1/company/invitations', {}, admin)).body.data, [{ expired: true }, { expired: true }])
  const again = kept(await send('POST', `/api/v1/company/invitations/${String(third?.body.id)}/renew`, {}, admin))
  t.equal((await use(again.body.token)).status, 204, 'one that has expired can be renewed')
})

await t.test('an invitation gives no more than the admin has, now and when it is accepted', async (t) => {
  const { admin, operator: above, idOf } = await founded()
  for (const more of [{ role: 'operator' }]) isError(t, await invite(admin, { ...guest, ...more }), 'forbidden')
  const limited = { email: 'limited@example.com', password }
  await send('POST', '/api/v1/users', { body: { ...limited, role: 'admin', services: ['sms'] } }, admin)
  isError(t, await invite(limited, { ...guest, services: ['email'] }), 'forbidden')
  isError(t, await invite(admin, { ...guest, email: admin.email.toUpperCase() }), 'conflict')
  const [one, two] = [await invite(limited, { ...guest, services: ['sms'] }), await invite(above, { ...guest, email: 'b@example.com' })]
  isError(t, await invite(admin), 'conflict', 'the address is invited already')
  const [{ id }] = (await send('GET', '/api/v1/users', {}, admin)).body.data.filter(({ email }: Login) => email === limited.email)
  await send('PUT', `/api/v1/users/${String(id)}`, { body: { services: ['file'] } }, admin)
  await isDead(t, one.body.token, 'who has invited has the services no more')
  await send('PUT', `/api/v1/users/${idOf(above)}`, { body: { disabled: true } }, above)
  t.equal((await read(two.body.token)).status, 200, 'the last operator of a company stays')
  await service.app.get('database').owner.updateTable('companies').set({ disabled_at: clock.now }).where('name', '=', 'links4').execute()
  await isDead(t, two.body.token, 'the company is disabled')
})

await t.test('an admin does not see, renew or withdraw what is above them or of another company', async (t) => {
  const [own, other] = [await founded(), await founded()]
  const { body: { id } } = await invite(own.operator, { ...guest, role: 'operator', services: [] })
  for (const by of [own.admin, other.admin, other.operator]) {
    t.strictSame((await send('GET', '/api/v1/company/invitations', {}, by)).body.data, [])
    isError(t, await send('DELETE', `/api/v1/company/invitations/${String(id)}`, {}, by), 'not_found')
    const renewed = await send('POST', `/api/v1/company/invitations/${String(id)}/renew`, {}, by)
    isError(t, renewed, by === own.admin ? 'forbidden' : 'not_found')
  }
  isError(t, await invite(own.member), 'forbidden')
  isError(t, await reset(other.admin, own.idOf(own.member)), 'not_found')
  isError(t, await reset(own.admin, own.idOf(own.operator)), 'not_found', 'nor whom they do not see')
  isError(t, await reset(own.member, own.idOf(own.member)), 'forbidden')
  const { body: { key } } = await send('POST', '/api/v1/keys', { body: { name: 'shop', mode: 'live' } }, own.admin)
  const byKey = { headers: { authorization: `Bearer ${String(key)}` } }
  isError(t, await send('POST', '/api/v1/company/invitations', { body: guest, ...byKey }, null), 'forbidden')
  isError(t, await send('POST', `/api/v1/users/${own.idOf(own.member)}/password-link`, byKey, null), 'forbidden')
})

await t.test('by a link for another password a user gets in again, and all sessions end', async (t) => {
  const { admin, member, idOf } = await founded()
  const cookie = await signIn(member)
  const { status, body: { token, expiresAt } } = await reset(admin, idOf(member))
  t.equal(status, 201)
  t.equal(Date.parse(expiresAt as string), clock.now.getTime() + day)
  has(t, (await read(token)).body, { purpose: 'password', email: member.email })
  t.ok(await reaches(member), 'a link alone changes nothing')
  t.equal((await use(token)).status, 204)
  t.notOk(await reaches(member))
  t.ok(await reaches({ ...member, password }))
  t.equal((await open('', cookie)).status, 303, 'the session has ended')
  await isDead(t, token, 'used')
  has(t, (await send('GET', '/api/v1/audit?object=user', {}, admin)).body.data, [{
    action: 'password.reset',
    author: { userId: idOf(member) }
  }, { action: 'password-link.created', author: { userId: idOf(admin) } }])
})

await t.test('such a link ends with another link, another password, a day, and the disabling of its user or maker', async (t) => {
  const company = await founded()
  const { admin, member, idOf } = company
  const change = (body: object): Promise<Answer> => send('PUT', `/api/v1/users/${idOf(member)}`, { body }, company.operator)
  const ends: Record<string, () => Promise<unknown>> = {
    'another link': () => reset(admin, idOf(member)),
    'another password': () => change({ password: 'staple of the day' }),
    'a disabled user': () => change({ disabled: true })
  }
  for (const [name, end] of Object.entries(ends)) {
    const { body: { token } } = await reset(admin, idOf(member))
    t.equal((await read(token)).status, 200, name)
    await end()
    await isDead(t, token, name)
  }
  isError(t, await reset(admin, idOf(member)), 'conflict', 'who is disabled gets none')
  await change({ disabled: false })
  const { body: { token } } = await reset(admin, idOf(member))
  await change({ role: 'operator' })
  await isDead(t, token, 'the user is above the maker now')
  await change({ role: 'member' })
  t.equal((await read(token)).status, 200)
  clock.now = new Date(clock.now.getTime() + day)
  await isDead(t, token, 'expired')
  isError(t, await reset(admin, idOf(admin)), 'forbidden', 'nobody makes one for themselves')
})

await t.test('a link is used from the company\'s own addresses only', async (t) => {
  const { admin } = await founded()
  const { body: { token } } = await invite(admin)
  await send('PUT', '/api/v1/company', { body: { addresses: ['198.51.100.0/24'], force: true } }, admin)
  isError(t, await use(token), 'forbidden')
})

await t.test('a company has 200 invitations at most', async (t) => {
  const { admin, companyId, idOf } = await founded()
  await tablesIn(service.app.get('database').owner).insertInto('one_time_links').values(Array.from({ length: 200 }, (_, index) => ({
    link_id: `019${String(index).padStart(5, '0')}-0000-7000-8000-000000000000`,
    company_id: companyId,
    purpose: 'invitation' as const,
    digest: Buffer.from(String(index)),
    email: `${String(index)}@example.com`,
    role: 'member' as const,
    services: [],
    made_by: idOf(admin),
    made_at: clock.now,
    expires_at: clock.now
  }))).execute()
  isError(t, await invite(admin), 'conflict')
  const list = async (query: string): Promise<Answer['body']> => (await send('GET', `/api/v1/company/invitations${query}`, {}, admin)).body
  const { data: all, nextCursor } = await list('')
  t.same([all.length, nextCursor], [200, null], 'all of them, unless pages are asked for')
  const first = await list('?limit=100')
  const second = await list(`?limit=100&cursor=${String(first.nextCursor)}`)
  t.same([...first.data, ...second.data], all)
  t.equal(second.nextCursor, null, 'a full page that is the last one')
  clock.now = new Date(clock.now.getTime() + 31 * day)
  t.equal((await invite(admin)).status, 201, 'those that expired a month ago are forgotten')
})

await t.test('no link is in the log or the audit log, and nothing failed', async (t) => {
  t.ok(made.length > 10)
  const { audit = [] } = await dump(service.app)
  const texts = [service.log.join('\n'), audit.join('\n')]
  for (const token of made) for (const text of texts) lacks(t, text, token)
  hasNoFault(t, service)
})
