import t from 'tap'
import { wordsOf } from '../../core/packages/features/links/pages/words.ts'
import { languages } from '../../plugins/console/language/language.ts'
import { contains, has, lacks } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { type Login, operator, startService } from '../support/service.ts'
import { openConsole } from './support/console.ts'

const [en, fr] = [wordsOf(languages.en), wordsOf(languages.fr)]
const service = await startService(t, { replacements: { renderer: quickRenderer } })
const { app, send } = service
const { confirm, open, post, signIn } = openConsole(service)
const password = 'correct horse battery'
const acme = await service.company('acme')
const cookie = await signIn(acme.admin)
const idOf = async ({ email }: Pick<Login, 'email'>): Promise<string> =>
  String((await send('GET', '/api/v1/users', {}, acme.operator)).body.data.find((user: Login) => user.email === email)?.id)

/** The path at the console of the link on a page. */
function linkOn (body: unknown): string {
  const [, path = ''] = /<code[^>]*>https:\/\/dispatch\.example\.com\/console(\/link\/[\w-]{43})<\/code>/.exec(String(body)) ?? []
  return path
}
const inviting = (email: string): [string, string][] => [['email', email], ['role', 'member'], ['service', 'sms']]

await t.test('an admin invites; the link is shown once, and opening it uses nothing up', async (t) => {
  const refused = await post('/company/invitations', inviting('"><b>'), cookie)
  t.equal(refused.status, 400)
  contains(t, refused.body, /id="f-email"[^>]*value="&quot;&gt;&lt;b&gt;"[^>]*aria-invalid="true"/)
  const made = await post('/company/invitations', inviting('grace@example.com'), cookie)
  const link = linkOn(made.body)
  t.not(link, '')
  lacks(t, (await open('/company/invitations', cookie)).body, link)
  for (let turn = 0; turn < 2; turn++) contains(t, (await open(link, '')).body, 'value="grace@example.com"')
  const bad = await post(link, { password: 'short' })
  t.equal(bad.status, 400)
  contains(t, bad.body, 'aria-invalid="true"')
  lacks(t, bad.body, 'short"')
  const done = await post(link, { password })
  t.equal(done.headers.get('location'), '/console/link/done')
  contains(t, (await open('/link/done', '')).body, en.linkDone)
  const login = { email: 'grace@example.com', password }
  t.equal((await open('', await signIn(login))).status, 200)
  has(t, (await send('GET', `/api/v1/users/${await idOf(login)}`, {}, acme.admin)).body, { role: 'member', services: ['sms'] })
})

await t.test('a link that is used, unknown or no link is answered alike, and no other site sends the form', async (t) => {
  const link = linkOn((await post('/company/invitations', inviting('once@example.com'), cookie)).body)
  t.equal((await post(link, { password }, '', { 'sec-fetch-site': 'cross-site' })).status, 403)
  t.equal((await post(link, { password })).status, 303)
  const pages = await Promise.all([link, `/link/${'x'.repeat(43)}`, '/link/x', '/link/a%2Fb'].map((path) => open(path, '')))
  for (const { status, body } of pages) {
    t.equal(status, 404)
    contains(t, body, en.linkDead)
  }
  t.equal((await post(link, { password })).status, 404)
})

await t.test('a new link ends the one before; the same form sent twice makes one; a withdrawn one is dead', async (t) => {
  const first = linkOn((await post('/company/invitations', inviting('renewed@example.com'), cookie)).body)
  const [, id = '', at = ''] = /invitations\/([\w-]+)\/renew"><input type="hidden" name="made" value="([^"]+)"/.exec(
    (await open('/company/invitations', cookie)).body as string
  ) ?? []
  const renewed = linkOn((await post(`/company/invitations/${id}/renew`, { made: at }, cookie)).body)
  t.not(renewed, '')
  t.equal((await open(first, '')).status, 404)
  const again = await post(`/company/invitations/${id}/renew`, { made: at }, cookie)
  t.equal(again.status, 409)
  contains(t, again.body, en.invitationRenewedAlready)
  t.equal((await open(renewed, '')).status, 200)
  t.equal((await confirm(`/company/invitations/${id}/withdraw`, {}, cookie)).headers.get('location'),
    '/console/company/invitations?withdrawn=1')
  t.equal((await open(renewed, '')).status, 404)
})

await t.test('an admin makes a link for another password, for others only', async (t) => {
  const theirs = await signIn(acme.member)
  const made = await post(`/company/users/${await idOf(acme.member)}/password-link`, {}, cookie)
  const link = linkOn(made.body)
  contains(t, (await open(link, '', { 'accept-language': 'fr' })).body, fr.linkPassword.replace('{company}', 'acme'))
  t.equal((await post(link, { password })).status, 303)
  t.equal((await open('', theirs)).status, 303, 'the session has ended')
  acme.member.password = password
  const own = await idOf(acme.admin)
  lacks(t, (await open(`/company/users/${own}`, cookie)).body, 'password-link')
  t.equal((await post(`/company/users/${own}/password-link`, {}, cookie)).status, 403)
  t.equal((await post(`/company/users/${own}/password-link`, {}, await signIn(acme.member))).status, 403)
})

await t.test('an operator acts as a user, with their rights alone, until it is ended; the audit log names both', async (t) => {
  const [mine, id] = [await signIn(operator), await idOf(acme.member)]
  const theirs = [await signIn(acme.member), await signIn(acme.member)]
  const path = `/companies/${String(acme.companyId)}/users/${id}`
  contains(t, (await open(`/companies/${String(acme.companyId)}`, mine)).body, `href="/console${path}"`)
  contains(t, (await open(path, mine)).body, `action="/console/act/${id}"`)
  t.equal((await post(`/act/${id}`, {}, mine)).headers.get('location'), '/console')
  const home = (await open('', mine)).body as string
  contains(t, home, `${operator.email} acts as ${acme.member.email}, until`)
  for (const page of ['', '/dispatches', '/providers', '/sessions']) contains(t, (await open(page, mine)).body, 'action="/console/act/end"')
  for (const page of ['/companies', '/operation', path]) t.equal((await open(page, mine)).status, 403, page)
  t.same([...home.matchAll(/<form method="post"[^>]*>(?!<input type="hidden" name=":as")/g)].length, 0, 'every form names the user')
  t.equal((await post(`/act/${await idOf(acme.admin)}`, { ':as': id }, mine)).status, 403, 'it does not lead to the next')
  lacks(t, (await open('/sessions', mine)).body, en.sessionEndOthers)
  t.equal((await confirm('/sessions/end-others', { ':as': id }, mine)).status, 303)
  for (const session of theirs) t.equal((await open('', session)).status, 200, 'none of theirs is another one of the operator')
  t.equal((await post('/act/end', { ':as': id }, mine)).status, 303)
  lacks(t, (await open('', mine)).body, 'class="acting"')
  t.equal((await open('/companies', mine)).status, 200)
  has(t, (await send('GET', '/api/v1/audit?action=user.impersonated', {}, acme.admin)).body.data, [{
    object: { kind: 'user', id },
    author: { userId: Number, companyId: 1 }
  }])
})

await t.test('a form that was filled in as one is not sent as another', async (t) => {
  const [mine, id] = [await signIn(acme.admin), await idOf(acme.member)]
  const settings = { addresses: '', lowCredit: '7', notifyUrl: '' }
  t.equal((await post(`/act/${id}`, {}, mine)).status, 303)
  const stale = await post('/company', settings, mine)
  t.equal(stale.status, 409)
  contains(t, stale.body, en.otherIdentity)
  t.equal((await post('/act/end', { ':as': id }, mine)).status, 303)
  t.equal((await post('/company', { ...settings, ':as': id }, mine)).status, 409)
  // A form with a file says it in its address, which is known before the file is read.
  const upload = async (query: string): Promise<number> => {
    const body = new FormData()
    body.set('file', new Blob(['%PDF-1.7\n%%EOF\n']), 'a.pdf')
    const headers = { cookie: mine, 'sec-fetch-site': 'same-origin' }
    return (await fetch(`${service.url}/console/files${query}`, { method: 'POST', redirect: 'manual', body, headers })).status
  }
  t.equal(await upload(`?:as=${id}`), 409)
  t.equal((await post(`/act/${id}`, {}, mine)).status, 303)
  contains(t, (await open('/files', mine)).body, `action="/console/files?:as=${id}" enctype`)
  contains(t, (await open('/e-invoices', mine)).body, ` formaction="/console/e-invoices/credit?:as=${id}"`)
  t.equal(await upload(''), 409)
  t.equal(await upload(`?:as=${id}`), 303)
  t.equal((await post('/act/end', { ':as': id }, mine)).status, 303)
  t.equal((await send('GET', '/api/v1/company', {}, acme.admin)).body.lowCredit, null)
  t.equal((await post('/company', settings, mine)).status, 303)
})

await t.test('acting ends after the time of the token and with the right to it; what is sent then is not done as oneself', async (t) => {
  const [mine, id] = [await signIn(acme.admin), await idOf(acme.member)]
  const ends: Record<string, () => Promise<unknown>> = {
    'another password of the user': () => send('PUT', `/api/v1/users/${id}`, { body: { password: 'staple of the day' } }, acme.admin),
    'the time': () =>
      app.get('database').owner.updateTable('sessions').set({ acting_until: new Date() }).where('acting_user_id', '=', Number(id)).execute()
  }
  for (const [name, end] of Object.entries(ends)) {
    t.equal((await post(`/act/${id}`, {}, mine)).status, 303)
    t.equal((await open('', mine)).status, 200)
    await end()
    const form = { ':as': id, addresses: '', lowCredit: '8', notifyUrl: '' }
    t.equal((await post('/company', form, mine)).status, 409, name)
    const { status, body } = await open('', mine)
    t.equal(status, 200)
    lacks(t, body, 'class="acting"')
  }
  t.equal((await send('GET', '/api/v1/company', {}, acme.admin)).body.lowCredit, 7)
  const [token] = await Promise.all([app.get('authentication').login(operator.email, operator.password, '127.0.0.1')])
  const own = await app.get('sessions').actorOf(mine.split('=')[1] ?? '', '127.0.0.1')
  await t.rejects(app.get('sessions').act(own!, token.token), 'a token that is no impersonation')
  acme.member.password = 'staple of the day'
})

await t.test('who acts and signs out ends their own session; members and other companies\' admins do not act', async (t) => {
  const [mine, id] = [await signIn(acme.admin), await idOf(acme.member)]
  await post(`/act/${id}`, {}, mine)
  t.equal((await post('/sign-out', { ':as': id }, mine)).status, 303)
  t.equal((await open('', mine)).status, 303)
  const other = await service.company('other')
  t.equal((await post(`/act/${id}`, {}, await signIn(other.admin))).status, 404)
  t.equal((await post(`/act/${await idOf(acme.admin)}`, {}, await signIn(acme.member))).status, 403)
  t.equal((await post('/act/x', {}, cookie)).status, 400)
})
