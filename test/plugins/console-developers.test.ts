import { sql } from 'kysely'
import { randomUUIDv7 } from 'node:crypto'
import t from 'tap'
import { createVendor, vendorNetwork } from '../../core/packages/conformance/vendor/vendor.ts'
import { sendCreditWarnings } from '../../core/packages/features/callbacks/service/credit-warnings.ts'
import { languages } from '../../plugins/console/language/language.ts'
import { until } from '../core/work/support.ts'
import { contains, has, lacks } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { type Answer, invoiceRequest, type Login, operator, startService } from '../support/service.ts'
import { openConsole } from './support/console.ts'

const { en } = languages
const receiver = await createVendor()
t.teardown(receiver.close)
receiver.answer({ status: 200 })
const service = await startService(t, { replacements: { renderer: quickRenderer, network: vendorNetwork(receiver) } })
const { send, app } = service
const { confirm, open, post, signIn } = openConsole(service)
const acme = await service.company('acme', { credits: 10 })
const other = await service.company('other')
const [cookie, asMember, theirs] = [await signIn(acme.admin), await signIn(acme.member), await signIn(other.admin)]
const shop = { name: 'Web shop', scope: 'send', allServices: 'true' }
const secretPattern = /whsec_[\w+/]+=*/

const keysOf = async (login: Login): Promise<any[]> => (await send('GET', '/api/v1/keys', {}, login)).body.data
const idOf = async (login: Login): Promise<number> =>
  (await send('GET', '/api/v1/users', {}, acme.admin)).body.data.find(({ email }: Login) => email === login.email).id
/** The hidden field by which a form knows what it has made. */
async function newestIn (form: 'keys' | 'secret', by: string): Promise<string> {
  const { body } = await open('/developers', by)
  return new RegExp(`/developers/${form}(?:#new)?"[^>]*><input type="hidden" name="newest" value="([^"]*)"`).exec(body as string)?.[1] ??
    'none'
}
const make = async (fields: Record<string, string> | [string, string][], by = cookie): Promise<Answer> =>
  post('/developers/keys', [...Array.isArray(fields) ? fields : Object.entries(fields), ['newest', await newestIn('keys', by)]], by)

await t.test('keys that are ticked are revoked together, once it was asked', async (t) => {
  const { admin } = await service.company('ticking')
  const own = await signIn(admin)
  const ids: string[] = []
  for (const name of ['One', 'Two', 'Three']) {
    ids.push((await send('POST', '/api/v1/keys', { body: { name, mode: 'live', scopes: ['send'] } }, admin)).body.id)
  }
  const [one = '', two = ''] = ids
  contains(t, (await open('/developers', own)).body, `<input type="checkbox" form="keys-chosen" name="row-${one}" value="${one}"`)
  const ticked = { [`row-${one}`]: one, [`row-${two}`]: two }
  contains(t, (await post('/developers/keys/chosen/revoke', ticked, own)).body, en.keysRevokeIntro)
  t.equal((await keysOf(admin)).length, 3, 'it was only asked for')
  contains(t, (await confirm('/developers/keys/chosen/revoke', ticked, own)).body, 'Done: 2 of 2.')
  t.same((await keysOf(admin)).map(({ name }) => name), ['Three'])
})

await t.test('a key is made and shown once: it works, no page shows it again, and a form that is sent again makes no other', async (t) => {
  const fields = { ...shop, newest: await newestIn('keys', cookie) }
  const made = await post('/developers/keys', fields, cookie)
  t.equal(made.status, 200)
  t.equal(made.headers.get('cache-control'), 'no-store')
  const key = /<code[^>]*>(dk_live_\w+)<\/code>/.exec(made.body)?.[1] ?? ''
  const used = await send('GET', '/api/v1/templates', { headers: { authorization: `Bearer ${key}` } }, null)
  t.equal(used.status, 200)
  const again = await post('/developers/keys', fields, cookie)
  t.equal(again.status, 409)
  contains(t, again.body, /<h2 id="new">(?:(?!<\/section>)[^])*already made the key “Web shop”/)
  has(t, await keysOf(acme.admin), [{ name: 'Web shop', mode: 'live', scopes: ['send'], services: null, expiresAt: null }])
  const { body } = await open('/developers', cookie)
  contains(t, body, `<code>${key.slice(0, 12)}…${key.slice(-4)}</code>`)
  for (const shown of [again.body, body, service.log.join('\n')]) lacks(t, shown, key)
  t.equal((await make(shop)).status, 200, 'a form of its own makes another')
})

await t.test('the console of tests makes keys of tests, and lists them alone', async (t) => {
  const headers = { 'x-api-version': '1.1.0' }
  const made = await post('/test/developers/keys', { ...shop, name: 'Robot', newest: '' }, theirs)
  contains(t, made.body, /<code[^>]*>dk_test_\w+<\/code>/)
  await post('/developers/keys', { ...shop, name: 'Till', newest: '' }, theirs)
  for (const [path, shown, hidden, mode] of [['/developers', 'Till', 'Robot', 'live'], ['/test/developers', 'Robot', 'Till',
    'test']] as const)
  {
    const { body } = await open(path, theirs)
    contains(t, body, `<th scope="row">${shown}<`)
    lacks(t, body, `<th scope="row">${hidden}<`)
    has(t, (await send('GET', `/api/v1/keys?mode=${mode}`, { headers }, other.admin)).body.data, [{ name: shown, mode }])
  }
  t.equal((await send('GET', '/api/v1/keys?mode=both', { headers }, other.admin)).status, 400)
  has(t, await send('GET', '/api/v1/keys?mode=live', {}, other.admin), {
    status: 400,
    body: { details: [{ path: '/query/mode', code: 'unknown_field' }] }
  }, 'before 1.1.0')
})

await t.test('a key has every field that the API knows; what is wrong is said at its field', async (t) => {
  const memberId = await idOf(acme.member)
  const fields: [string, string][] = [['name', 'Till'], ['scope', 'send'], ['scope', 'read_all'], ['service', 'sms'], [
    'service',
    'email'
  ], ['userId', String(memberId)]]
  const refused = await make([...fields, ['expiresAt', '2020-02-02']])
  t.equal(refused.status, 422)
  contains(t, refused.body, /id="f-expiresAt"[^>]*value="2020-02-02"[^>]*aria-invalid="true"/)
  contains(t, refused.body, new RegExp(`<option value="${String(memberId)}" selected>`))
  for (const value of ['sms', 'read_all']) contains(t, refused.body, `value="${value}" checked`)
  lacks(t, refused.body, 'value="read_own" checked')
  const above = await make([...fields, ['scope', 'audit']])
  t.equal(above.status, 422)
  contains(t, above.body, /<fieldset aria-invalid="true"[^>]*><legend>Scopes(?:(?!<\/fieldset>)[^])*A live key of this user can have/)
  t.equal((await make([['name', '']])).status, 400)
  t.equal((await make([...fields, ['expiresAt', '2099-12-31']])).status, 200)
  has(t, (await keysOf(acme.admin))[0], {
    name: 'Till',
    scopes: ['send', 'read_all'],
    services: ['sms', 'email'],
    userId: memberId,
    expiresAt: '2099-12-31T23:59:59.000Z'
  })
  contains(t, (await open('/developers', cookie)).body, acme.member.email)
})

await t.test('a key that may be used for all that its user may do stands out, as those of releases before scopes', async (t) => {
  const wide = await service.company('wide')
  await send('POST', '/api/v1/keys', { body: { name: 'narrow', mode: 'live' } }, wide.admin)
  const by = await signIn(wide.admin)
  lacks(t, (await open('/developers', by)).body, en.keyWide)
  await sql`insert into api_keys (key_id, company_id, user_id, name, mode, digest, beginning, ending, created_at)
    select gen_random_uuid(), company_id, user_id, 'old', 'live', '\\x00', 'dk_live_0000', '0000', now() from users
    where email = ${wide.admin.email}`.execute(app.get('database').owner)
  contains(t, (await open('/developers', by)).body, new RegExp(`<th scope="row">old<(?:(?!</tr>)[^])*${en.keyWide}`))
})

await t.test('members manage their own keys; nobody sees or revokes those of another company', async (t) => {
  t.equal((await make({ ...shop, name: '"><b>' }, asMember)).status, 200)
  const { body } = await open('/developers', asMember)
  contains(t, body, '&quot;&gt;&lt;b&gt;')
  for (const part of ['>Web shop<', 'name="userId"', '/developers/secret', en.companyCallbacks]) lacks(t, body, part)
  const [{ id }] = await keysOf(acme.member) as [{ id: string }]
  const before = await keysOf(acme.admin)
  lacks(t, (await open('/developers', theirs)).body, id)
  t.equal((await confirm(`/developers/keys/${id}`, {}, theirs)).status, 404)
  t.equal((await make({ ...shop, userId: String(await idOf(acme.member)) }, theirs)).status, 404)
  t.equal((await post(`/developers/keys/${id}`, {}, cookie, { 'sec-fetch-site': 'cross-site' })).status, 403)
  t.same(await keysOf(acme.admin), before)
  t.equal((await confirm(`/developers/keys/${id}`, {}, cookie)).headers.get('location'), '/console/developers?revoked=1')
  t.notOk((await keysOf(acme.admin)).some((key) => key.id === id))
  contains(t, (await open('/developers?revoked=1', cookie)).body, en.keyRevoked)
})

await t.test('the secret of the callbacks is replaced by admins, shown once, and not by a form that is sent again', async (t) => {
  contains(t, (await open('/developers', cookie)).body, en.callbackSecretNone)
  await send('POST', '/api/v1/company/callback-secret', {}, acme.admin)
  const fields = { newest: await newestIn('secret', cookie) }
  const made = await confirm('/developers/secret', fields, cookie)
  t.equal(made.status, 200)
  const secret = secretPattern.exec(made.body)?.[0] ?? ''
  contains(t, made.body, en.callbackSecretUntil)
  const again = await confirm('/developers/secret', fields, cookie)
  t.equal(again.status, 409)
  const { body } = await open('/developers', cookie)
  for (const shown of [again.body, body]) lacks(t, shown, secretPattern)
  lacks(t, service.log.join('\n'), secret)
  t.equal((await send('GET', '/api/v1/company/callback-secret', {}, acme.admin)).body.secrets.length, 2)
  t.equal((await confirm('/developers/secret', {}, asMember)).status, 403)
})

await t.test('callbacks about the company are listed with their attempts, and sent again', async (t) => {
  contains(t, (await open('/developers', cookie)).body, en.companyCallbacksNone)
  await send('PUT', '/api/v1/company', { body: { notifyUrl: 'https://warned.test/credits', lowCredit: 10 } }, acme.admin)
  await send('POST', '/api/invoicing', { body: invoiceRequest() }, acme.admin)
  await sendCreditWarnings({ database: app.get('database'), queue: app.get('queue'), now: () => new Date(), newId: randomUUIDv7 })
  const reported = async (): Promise<any> => (await send('GET', '/api/v1/company/callbacks', {}, acme.admin)).body.data[0]
  await until('it is received', async () => (await reported())?.state === 'delivered')
  contains(t, (await open('/developers', cookie)).body, 'company.credits_low</span> <span class="quiet">warned.test')
  const { id } = await reported()
  t.equal((await post(`/developers/callbacks/${id}`, {}, theirs)).status, 404)
  t.equal((await post(`/developers/callbacks/${id}`, {}, asMember)).status, 403)
  t.equal((await post(`/developers/callbacks/${id}`, {}, cookie)).headers.get('location'), '/console/developers?sent=1')
  await until('it is received again', async () => (await reported()).attempts.length === 2)
})

await t.test('operators have the page too, for the company of the platform', async (t) => {
  const { status, body } = await open('/developers', await signIn(operator))
  t.equal(status, 200)
  lacks(t, body, '/developers/secret')
})
