import t from 'tap'
import { languages } from '../../plugins/console/language/language.ts'
import { contains, has, lacks } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { operator, startService } from '../support/service.ts'
import { openConsole } from './support/console.ts'

const { en } = languages
const service = await startService(t, {
  config: { limits: { auth: 0, dispatch: 7, validation: 0, requests: 0 } },
  replacements: { renderer: quickRenderer }
})
const { send } = service
const { open, post, signIn } = openConsole(service)
const password = 'correct horse battery'
const acme = { admin: { email: 'admin@acme.example.com', password }, member: { email: 'member@acme.example.com', password } }
// A company with one admin only, and nobody above.
const { body: { id: companyId } } = await send('POST', '/api/v1/companies', { body: { name: 'Acme', credits: 10, admin: acme.admin } },
  operator)
await send('POST', '/api/v1/users', { body: { ...acme.member, role: 'member', services: ['*'] } }, acme.admin)
const other = await service.company('other')
const cookie = await signIn(acme.admin)
const grace = { email: 'grace@acme.example.com', password: 'staple of the day', role: 'member' }
const usersOf = async (login = acme.admin): Promise<{ id: number, email: string, role: string }[]> =>
  (await send('GET', '/api/v1/users', {}, login)).body.data
const idOf = async (email: string): Promise<string> => String((await usersOf()).find((user) => user.email === email)?.id)

await t.test('an admin adds a user; what is wrong is said at its field, and the password is not shown again', async (t) => {
  const refused = await post('/company/users', { ...grace, email: '"><b>', password: 'short', service: 'sms' }, cookie)
  t.equal(refused.status, 400)
  contains(t, refused.body, /id="f-email"[^>]*value="&quot;&gt;&lt;b&gt;"[^>]*aria-invalid="true"/)
  contains(t, refused.body, /id="s-sms" name="service" value="sms" checked/)
  lacks(t, refused.body, 'short"')
  const added = await post('/company/users', [...Object.entries(grace), ['service', 'sms'], ['service', 'email']], cookie)
  t.equal(added.headers.get('location'), '/console/company?saved=1#main')
  has(t, (await usersOf()).find(({ email }) => email === grace.email), { role: 'member', services: ['sms', 'email'], disabled: false })
  t.equal((await open('', await signIn(grace))).status, 200)
})

await t.test('a user gets another role and a new password, and is disabled: every time the sessions end', async (t) => {
  const id = await idOf(grace.email)
  const changes = [['rights', { email: grace.email, role: 'admin', allServices: 'true' }], ['password', { password: 'another of the day' }],
    ['disabled', { disabled: 'true' }]] as const
  const passwords = [grace.password, grace.password, 'another of the day']
  for (const [index, [name, fields]] of changes.entries()) {
    const theirs = await signIn({ ...grace, password: passwords[index]! })
    t.equal((await open('', theirs)).status, 200)
    t.equal((await post(`/company/users/${id}/${name}`, { ...fields }, cookie)).status, 303, name)
    t.equal((await open('', theirs)).status, 303, `${name} ends the session`)
  }
  has(t, (await usersOf()).find(({ email }) => email === grace.email), { role: 'admin', services: ['*'], disabled: true })
  const own = await idOf(acme.admin.email)
  const last = await post(`/company/users/${own}/disabled`, { disabled: 'true' }, cookie)
  t.equal(last.status, 409, 'the last admin stays')
  contains(t, last.body, /role="alert"/)
  t.equal((await post(`/company/users/${own}/password`, { password: 'another of mine', current: 'wrong' }, cookie)).status, 403)
})

await t.test('the addresses, the warning and its address are saved; a list that shuts the reader out needs a tick', async (t) => {
  const fields = { addresses: '198.51.100.0/24', lowCredit: '20', notifyUrl: 'https://hooks.example.com/' }
  const refused = await post('/company', fields, cookie)
  t.equal(refused.status, 422)
  contains(t, refused.body, 'name="force"')
  contains(t, refused.body, '198.51.100.0/24</textarea>')
  t.equal((await post('/company', { ...fields, addresses: '127.0.0.0/8\r\n::1' }, cookie)).status, 303)
  has(t, (await send('GET', '/api/v1/company', {}, acme.admin)).body, {
    addresses: ['127.0.0.0/8', '::1/128'],
    lowCredit: 20,
    notifyUrl: 'https://hooks.example.com/'
  })
  t.equal((await post('/company', { ...fields, lowCredit: 'few' }, cookie)).status, 400)
})

await t.test('the audit log shows who changed what, by object and by person', async (t) => {
  const [id, own] = [await idOf(grace.email), await idOf(acme.admin.email)]
  const { body } = await open(`/audit?object=user/${id}&userId=${own}`, cookie)
  contains(t, body, '<th scope="row">User created<div class="quiet"><code>user.created</code></div></th>')
  contains(t, body, '<option value="template.published">Template published</option>')
  contains(t, body, `object=user%2F${id}">user/${id}</a>`)
  lacks(t, body, '<code>company.changed</code>')
  const unknown = (await open('/audit?action=nothing', cookie)).body
  contains(t, unknown, en.auditNone)
  contains(t, unknown, '<option value="nothing" selected>nothing</option>')
  contains(t, (await open('/audit', await signIn(operator))).body, en.auditNoneYet)
  const refused = await open('/audit?userId=x', cookie)
  t.equal(refused.status, 400)
  contains(t, refused.body, 'value="x"')
})

await t.test('another company is not seen and not changed; members see none of it; forms come from the console', async (t) => {
  const [theirs, asMember, asOperator] = [await signIn(other.admin), await signIn(acme.member), await signIn(operator)]
  const before = await usersOf()
  const id = await idOf(acme.member.email)
  t.equal((await open(`/company/users/${id}`, theirs)).status, 404)
  lacks(t, (await open('/company', theirs)).body, acme.member.email)
  const { body: limits } = await send('GET', '/api/v1/company/limits', {}, acme.member)
  t.same(limits, { signInsPerMinute: null, dispatchesPerMinute: 7, validationsPerMinute: null, requestsPerMinute: null })
  contains(t, (await open('/company', theirs)).body,
    `<dt>${en.limitDispatches}</dt><dd>7</dd><dt>${en.limitValidations}</dt><dd>${en.limitNone}</dd>`)
  const foreign = await open(`/audit?companyId=${String(companyId)}`, theirs)
  lacks(t, foreign.body, '<code>user.created</code>')
  contains(t, (await open(`/audit?companyId=${String(companyId)}`, asOperator)).body, '<code>user.created</code>')
  for (const path of ['/company', '/company/users/1']) t.equal((await open(path, asMember)).status, 403, path)
  t.equal((await open('/audit', asMember)).status, 403)
  for (const name of ['rights', 'password', 'disabled']) {
    const fields = { role: 'admin', allServices: 'true', email: acme.member.email, password: 'staple of the night', disabled: 'true' }
    const path = `/company/users/${id}/${name}`
    t.equal((await post(path, fields, theirs)).status, 404, `${name} by another company`)
    t.equal((await post(path, fields, asMember)).status, 403, `${name} by a member`)
    t.equal((await post(path, fields, cookie, { 'sec-fetch-site': 'cross-site' })).status, 403, `${name} from elsewhere`)
  }
  t.same(await usersOf(), before)
  contains(t, (await open('', cookie)).body, 'href="/console/company"')
  lacks(t, (await open('', asMember)).body, 'href="/console/company"')
})
