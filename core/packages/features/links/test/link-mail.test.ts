import t, { type Test } from 'tap'
import { dump, isError } from '../../../../../test/hostile/support.ts'
import { openConsole } from '../../../../../test/plugins/support/console.ts'
import { contains, has, lacks, matches } from '../../../../../test/support/matching.ts'
import { type Answer, type Login, operator as outsider, startService } from '../../../../../test/support/service.ts'
import { answer, mailServer } from '../../../../../test/support/smtp.ts'
import { secretMark } from '../../../accounts/access/mailed-secrets.ts'
import { createNetwork } from '../../../vendor-io/network.ts'
import { tablesIn as signOnTables } from '../../single-sign-on/store/tables.ts'
import { links } from '../service/links.ts'

const refusing = new Set<string>()
const server = await mailServer(t, () => ({
  onRcptTo ({ address }, _session, callback) {
    callback(refusing.has(address) ? answer(550, `No ${address} here.`) : null)
  }
}))
const network = createNetwork({ loopback: 'allowed', ca: [server.ca], route: server.route })
const service = await startService(t, { config: { keepsRequestLog: true }, replacements: { network } })
const { app, send, log } = service
const { confirm, open, post, signIn } = openConsole(service)
const acme = await service.company('acme')
const { operator, admin: keeper } = await service.company('platform')
const settings = { host: 'mail.acme.test', user: 'user', password: 'password', allowedSenders: ['@acme.test'] }
const sender = { providerName: 'smtp', from: 'hello@acme.test' }
const password = 'correct horse battery'
const secrets: string[] = []

const guest = (name: string) => ({ email: `${name}@guests.test`, role: 'member', services: ['email'] })
const invite = (name: string, mailIn = 'en', by: Login = acme.admin): Promise<Answer> =>
  send('POST', `/api/v1/company/invitations?mailIn=${mailIn}`, { body: guest(name) }, by)
const use = (token: unknown): Promise<Answer> => send('POST', '/auth/links/use', { body: { token, password } }, null)
const forgotten = (email: unknown, language?: string): Promise<Answer> =>
  send('POST', '/auth/password-links', { body: { email, ...language === undefined ? {} : { language } } }, null)
const idOf = async (login: Login): Promise<number> =>
  (await send('GET', '/api/v1/users', {}, acme.operator)).body.data.find(({ email }: Login) => email === login.email).id

/** The texts of the mails to somebody, once there are so many. */
async function mailsTo (address: string, count = 1): Promise<string[]> {
  for (;;) {
    const found = server.mails.filter(({ to }) => to.includes(address))
    if (found.length >= count) return found.map(({ source }) => source.replaceAll('=\r\n', '').replaceAll('=3D', '='))
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** The secret of the link in a mail. */
function secretIn (source = ''): string {
  const [, secret = ''] = /https:\/\/dispatch\.example\.com\/console\/link\/([\w-]{43})/.exec(source) ?? []
  if (secret !== '') secrets.push(secret)
  return secret
}

await t.test('nothing is mailed before an operator has set by which provider', async (t) => {
  t.strictSame((await send('GET', '/auth/password-links', {}, null)).body, { offered: false })
  isError(t, await forgotten(acme.member.email), 'conflict')
  isError(t, await invite('early'), 'conflict')
  t.strictSame((await send('GET', '/api/v1/company/invitations', {}, acme.admin)).body.data, [])
  contains(t, (await open('/forgotten', '')).body, 'Ask an admin')
  isError(t, await send('DELETE', '/api/v1/link-mail', {}, operator), 'not_found')
})

await t.test('an operator sets it for a provider that would send; an admin learns only that it is set', async (t) => {
  isError(t, await send('PUT', '/api/v1/link-mail', { body: sender }, acme.admin), 'forbidden')
  for (const by of [operator, outsider]) {
    isError(t, await send('PUT', '/api/v1/link-mail', { body: sender }, by), 'configuration_missing')
  }
  has(t, await send('PUT', '/api/v1/company/providers/smtp', { body: { settings } }, keeper), { status: 200 })
  isError(t, await send('PUT', '/api/v1/link-mail', { body: { ...sender, from: 'a@other.test' } }, operator), 'expectation_failed')
  const set = await send('PUT', '/api/v1/link-mail', { body: sender }, operator)
  has(t, set, { status: 200, body: { available: true, current: { ...sender, company: Number } } })
  t.strictSame((await send('GET', '/api/v1/link-mail', {}, acme.admin)).body, { available: true, current: null })
  t.equal(server.mails.length, 0, 'the check sends nothing')
})

await t.test('an invitation is mailed in the language of the person, as text and HTML, and makes the user', async (t) => {
  const invited = await invite('grace', 'fr')
  has(t, invited, { status: 201, body: { token: null, url: null, mail: 'sending', email: 'grace@guests.test' } })
  const [source = ''] = await mailsTo('grace@guests.test')
  for (const part of [/text\/plain/, /text\/html/, /From: hello@acme\.test/, /Choisir un mot de passe/]) matches(t, source, part)
  contains(t, source, acme.admin.email)
  const secret = secretIn(source)
  has(t, (await send('POST', '/auth/links/read', { body: { token: secret } }, null)).body, {
    purpose: 'invitation',
    email: 'grace@guests.test'
  })
  for (;;) {
    const [{ mail }] = (await send('GET', '/api/v1/company/invitations', {}, acme.admin)).body.data
    if (mail === 'sent') break
    t.equal(mail, 'sending')
  }
  t.equal((await use(secret)).status, 204)
  isError(t, await use(secret), 'not_found')
})

await t.test('a mail that nobody takes is told; another link is mailed or shown', async (t) => {
  refusing.add('hopper@guests.test')
  const { body: { id } } = await invite('hopper')
  for (;;) {
    const [{ mail }] = (await send('GET', '/api/v1/company/invitations', {}, acme.admin)).body.data
    if (mail === 'failed') break
  }
  refusing.delete('hopper@guests.test')
  has(t, await send('POST', `/api/v1/company/invitations/${String(id)}/renew?mailIn=en`, {}, acme.admin), { body: { token: null } })
  const secret = secretIn((await mailsTo('hopper@guests.test'))[0])
  const shown = await send('POST', `/api/v1/company/invitations/${String(id)}/renew`, {}, acme.admin)
  has(t, shown, { status: 200, body: { mail: null } })
  isError(t, await use(secret), 'not_found', 'the one before is dead')
  t.equal((await use(shown.body.token)).status, 204)
})

await t.test('the secret stands in the mail alone: not in dispatches, documents, logs or the database', async (t) => {
  await invite('lovelace')
  const [source = ''] = await mailsTo('lovelace@guests.test')
  const secret = secretIn(source)
  t.not(secret, '')
  await app.get('pipeline').drain()
  const { data } = (await send('GET', '/api/v1/dispatches?metadata[mail]=invitation', {}, operator)).body
  const views = await Promise.all(
    data.map(async ({ dispatchId }: { dispatchId: string }) =>
      JSON.stringify((await send('GET', `/api/v1/dispatches/${dispatchId}`, {}, operator)).body)
    )
  )
  t.ok(views.length > 0)
  const stored = JSON.stringify(await dump(app))
  contains(t, stored, secretMark)
  for (const made of secrets) for (const text of [...views, stored, log.join('\n')]) lacks(t, text, made)
})

await t.test('another mail with the mark, or the same to somebody else, has another secret, which opens nothing', async (t) => {
  await invite('noether')
  const mailed = secretIn((await mailsTo('noether@guests.test'))[0])
  const data = { purpose: 'password', company: 'x', email: 'x', url: `https://dispatch.example.com/console/link/${secretMark}` }
  const body = { ...sender, to: ['noether@guests.test', 'eve@guests.test'], subject: 'x', template: { id: 13, data } }
  has(t, await send('POST', '/api/email', { body }, operator), { status: 200 })
  const copied = secretIn((await mailsTo('eve@guests.test'))[0])
  t.not(copied, mailed)
  isError(t, await use(copied), 'not_found')
  t.equal((await use(mailed)).status, 204)
})

await t.test('a link that gives an operator is not mailed', async (t) => {
  const above = { ...guest('above'), role: 'operator' }
  isError(t, await send('POST', '/api/v1/company/invitations?mailIn=en', { body: above }, acme.operator), 'conflict')
  await forgotten(acme.operator.email)
  await app.find(links).drain()
  lacks(t, server.mails.map(({ to }) => to.join()).join(), acme.operator.email)
})

/** Asks for a link, and answers what came: the first text of the mail that is not known yet. */
async function helped (t: Test, { email }: Login, language?: string): Promise<string> {
  const before = server.mails.filter(({ to }) => to.includes(email)).length
  t.equal((await forgotten(email, language)).status, 202)
  return (await mailsTo(email, before + 1))[before] ?? ''
}

await t.test('who has forgotten the password gets a link; whether there is a user is not told', async (t) => {
  const [known, unknown] = [await forgotten(acme.member.email.toUpperCase(), 'fr'), await forgotten('nobody@guests.test')]
  t.strictSame([known.status, known.body], [unknown.status, unknown.body])
  const [source = ''] = await mailsTo(acme.member.email)
  for (const part of [/Choisir un nouveau mot de passe/, /, \d\d:\d\d UTC/]) matches(t, source, part)
  t.equal((await use(secretIn(source))).status, 204)
  has(t, await send('GET', '/api/v1/my/config', {}, { ...acme.member, password }), { status: 200 })
  acme.member.password = password
  const { data } = (await send('GET', '/api/v1/audit?object=user', {}, acme.admin)).body
  const actions = data.map(({ action }: { action: string }) => action)
  t.ok(actions.includes('password-link.created') && actions.includes('password.reset'))
  await app.find(links).drain()
  t.equal(server.mails.filter(({ to }) => to.includes('nobody@guests.test')).length, 0)
})

await t.test('a user gets three such mails an hour, whoever asks', async (t) => {
  for (let turn = 0; turn < 4; turn++) t.equal((await forgotten(acme.admin.email)).status, 202)
  await app.find(links).drain()
  await mailsTo(acme.admin.email, 3)
  await app.get('pipeline').drain()
  t.equal(server.mails.filter(({ to }) => to.includes(acme.admin.email)).length, 3)
})

await t.test('whom the company signs in by its own provider is told so, and gets no password', async (t) => {
  const { owner } = app.get('database')
  const company = await service.company('northwind')
  const { user_id: wayIn } = await owner.selectFrom('users').select('user_id').where('email', '=', company.admin.email)
    .executeTakeFirstOrThrow()
  await signOnTables(owner).insertInto('single_sign_on').values({
    company_id: company.companyId,
    code: 'abcdefghjkmn',
    issuer: 'https://login.example.com',
    client_id: 'x',
    client_secret: '{}',
    creates_users: false,
    default_role: 'member',
    default_services: [],
    links_by_email: false,
    required: true,
    way_in: wayIn,
    updated_at: new Date()
  }).execute()
  const source = await helped(t, company.member)
  contains(t, source, 'https://dispatch.example.com/console/sign-on?company=abcdefghjkmn')
  t.equal(secretIn(source), '')
  t.not(secretIn(await helped(t, company.admin)), '', 'but the way in')
  has(t, (await send('GET', '/api/v1/audit?action=password-link.refused', {}, company.admin)).body.data, [{ facts: {} }])
})

await t.test('the console: mailed by default, shown where the admin wants that; forgotten on the sign-in page', async (t) => {
  const [mine, theirs] = [await signIn(operator), await signIn(acme.admin)]
  contains(t, (await open('/link-mail', mine)).body, 'value="hello@acme.test"')
  t.equal((await open('/link-mail', theirs)).status, 403)
  contains(t, (await open('/company/invitations', theirs, { 'accept-language': 'fr' })).body, /value="fr" required checked/)
  const fields = (email: string, mailIn: string): [string, string][] => [['email', email], ['role', 'member'], ['mailIn', mailIn]]
  const mailed = await post('/company/invitations', fields('curie@guests.test', 'en'), theirs)
  contains(t, mailed.body, 'on its way to curie@guests.test')
  t.not(secretIn((await mailsTo('curie@guests.test'))[0]), '')
  contains(t, (await post('/company/invitations', fields('meitner@guests.test', ''), theirs)).body, /<code[^>]*>https:.*\/link\/[\w-]{43}</)
  const user = `/company/users/${await idOf(acme.member)}/password-link`
  contains(t, (await post(user, { mailIn: 'en' }, theirs)).body, `on its way to ${acme.member.email}`)
  contains(t, (await open('/sign-in', '')).body, 'href="/console/forgotten"')
  const [one, other] = await Promise.all([acme.member.email, 'nobody@guests.test'].map((email) => post('/forgotten', { email })))
  t.equal(one?.status, 200)
  t.equal(one?.body, other?.body)
})

await t.test('when the operator is disabled, nothing is mailed, and the pages say so', async (t) => {
  const cookie = await signIn(operator)
  await app.get('database').owner.updateTable('link_mail').set({ user_id: await idOf(acme.member) }).execute()
  t.strictSame((await send('GET', '/api/v1/link-mail', {}, acme.admin)).body, { available: false, current: null })
  contains(t, (await open('/link-mail', cookie)).body, 'Nothing is mailed at the moment')
  isError(t, await invite('late'), 'conflict')
  contains(t, (await open('/forgotten', '')).body, 'Ask an admin')
  t.equal((await confirm('/link-mail/remove', {}, cookie)).status, 303)
  has(t, (await send('GET', '/api/v1/link-mail', {}, operator)).body, { available: false, current: null })
})
