import { randomUUID } from 'node:crypto'
import t from 'tap'
import { type NoticeMail, takeWithin } from '../../core/packages/accounts/audit/notices.ts'
import { createNetwork } from '../../core/packages/vendor-io/network.ts'
import { contains, has, lacks } from '../support/matching.ts'
import { type Login, startService } from '../support/service.ts'
import { mailServer } from '../support/smtp.ts'
import { openConsole } from './support/console.ts'

const server = await mailServer(t)
const network = createNetwork({ loopback: 'allowed', ca: [server.ca], route: server.route })
const service = await startService(t, { replacements: { network } })
const { app, send } = service
const { open, signIn } = openConsole(service)
const acme = await service.company('acme')
const { operator, admin: keeper } = await service.company('platform')
const [notices, linkMail] = [app.get('notices'), app.get('linkMail')]

const idOf = async (login: Login): Promise<number> =>
  (await send('GET', '/api/v1/users', {}, acme.operator)).body.data.find(({ email }: Login) => email === login.email).id
const reported = async (login: Login): Promise<{ action: string, own: boolean, address?: string }[]> =>
  (await send('GET', '/api/v1/my/notices', {}, login)).body.data
const actionsOf = async (login: Login): Promise<string[]> => (await reported(login)).map(({ action }) => action)

async function mailAll (): Promise<void> {
  await notices.mail()
  for (;;) {
    const { data } = (await send('GET', '/api/v1/dispatches?metadata[mail]=notice&limit=100', {}, operator)).body
    if ((data as { status: string }[]).every(({ status }) => status === 'succeeded')) return
  }
}

/** What was mailed to somebody since the last call, when all that waited is mailed. */
async function mailsTo (address: string): Promise<string[]> {
  await mailAll()
  return server.mails.splice(0).filter(({ to }) => to.includes(address)).map(({ source }) =>
    source.replaceAll('=\r\n', '').replaceAll('=3D', '=').replaceAll('\r\n', ' ')
  )
}

await t.test('a change is told at the console where nothing is mailed: to whom it concerns, and to nobody else', async (t) => {
  has(t, await send('POST', '/api/v1/keys', { body: { name: 'shop', mode: 'live', userId: await idOf(acme.member) } }, acme.admin), {
    status: 201
  })
  t.same(await actionsOf(acme.admin), [])
  const [notice] = await reported(acme.member)
  has(t, notice, { action: 'key.created', own: false })
  t.equal(notice?.address, undefined, 'the address of somebody else')
  await send('POST', '/api/v1/keys', { body: { name: 'own', mode: 'test' } }, acme.member)
  has(t, (await reported(acme.member))[0], { action: 'key.created', own: true, address: '127.0.0.1' })
  const page = await open('/sessions', await signIn(acme.member))
  contains(t, page.body, 'An API key was made.')
  t.same(await mailsTo(acme.member.email), [])
})

await t.test('where links are mailed the owner is mailed all that was changed, once', async (t) => {
  const settings = { host: 'mail.acme.test', user: 'user', password: 'password', allowedSenders: ['@acme.test'] }
  has(t, await send('PUT', '/api/v1/company/providers/smtp', { body: { settings } }, keeper), { status: 200 })
  has(t, await send('PUT', '/api/v1/link-mail', { body: { providerName: 'smtp', from: 'hello@acme.test' } }, operator), { status: 200 })
  await mailsTo(acme.member.email)
  await send('POST', '/api/v1/my/second-factor', {}, acme.member)
  t.same(await mailsTo(acme.member.email), [], 'what does not count yet')
  await send('POST', '/api/v1/keys', { body: { name: 'one', mode: 'live' } }, acme.member)
  await send('PUT', '/api/v1/my/password', { body: { current: acme.member.password, password: 'correct horse' } }, acme.member)
  // The service's own sweep may mail the first of them alone.
  const mailed = (await mailsTo(acme.member.email)).join()
  for (const text of ['An API key was made.', 'The password was changed.', 'https://dispatch.example.com/console/sessions', 'acme']) {
    contains(t, mailed, text)
  }
  lacks(t, mailed, /dk_live_/)
  t.same(await mailsTo(acme.member.email), [], 'nothing is told twice')
})

await t.test('a person is mailed in the language in which they have last signed in', async (t) => {
  const { post } = openConsole(service)
  const { email, password } = { ...acme.member, password: 'correct horse' }
  const headers = { 'sec-fetch-site': 'same-origin', 'accept-language': 'fr-FR,fr;q=0.9' }
  t.equal((await post('/sign-in', { email, password }, '', headers)).status, 303)
  await send('POST', '/api/v1/keys', { body: { name: 'deux', mode: 'live' } }, { email, password })
  contains(t, (await mailsTo(email)).join(), 'Une cl=C3=A9 d=E2=80=99API a =C3=A9t=C3=A9 cr=C3=A9=C3=A9e.')
})

await t.test('the address of before is told of another address, and the audit log keeps it', async (t) => {
  const member = await idOf(acme.member)
  has(t, await send('PUT', `/api/v1/users/${String(member)}`, { body: { email: 'thief@evil.test' } }, acme.admin), { status: 200 })
  await mailAll()
  t.same(server.mails.splice(0).map(({ to }) => to), [[acme.member.email]])
  const { data: [entry] } = (await send('GET', '/api/v1/audit?action=user.changed', {}, acme.admin)).body
  has(t, entry.facts, { email: 'thief@evil.test', previousEmail: acme.member.email })
  await send('PUT', `/api/v1/users/${String(member)}`, { body: { role: 'member' } }, acme.admin)
  t.same(await mailsTo('thief@evil.test'), [], 'a role lets nobody in')
  await send('PUT', `/api/v1/users/${String(member)}`, { body: { email: acme.member.email } }, acme.admin)
  await mailsTo('')
})

await t.test('secrets of the company are told to who has made them, and a change of the mails too', async (t) => {
  await send('POST', '/api/v1/company/callback-secret', {}, acme.admin)
  const { body: { id } } = await send('POST', '/api/v1/company/callback-endpoints', { body: { name: 'x', url: 'https://x.test/' } },
    acme.admin)
  await send('POST', `/api/v1/company/callback-endpoints/${String(id)}/secret`, {}, acme.admin)
  await send('PUT', `/api/v1/company/callback-endpoints/${String(id)}`, { body: { url: 'https://y.test/' } }, acme.admin)
  t.same(await actionsOf(acme.admin), [
    'callback-endpoint.changed',
    'callback-endpoint.secret-rotated',
    'callback-endpoint.created',
    'callback-secret.rotated'
  ])
  t.not((await mailsTo(acme.admin.email)).length, 0)
  t.ok((await actionsOf(operator)).includes('link-mail.changed'))
})

await t.test('a company with many changes keeps nobody from being told, and has twenty people told at once', async (t) => {
  const { owner } = app.get('database')
  const busy = await service.company('busy')
  const userOf = async ({ email }: Login) =>
    await owner.selectFrom('users').select(['company_id', 'user_id']).where('email', '=', email).executeTakeFirstOrThrow()
  const other = await userOf(acme.admin)
  const change = { ...await userOf(busy.admin), action: 'key.created', by_user_id: null, address: null, mailed_at: null }
  const flood = Array.from({ length: 600 }, (_, one) => ({ ...change, email: `p${one % 30}@busy.test`, at: new Date() }))
  // The sweep of the service itself takes none of them in between.
  const taken = await owner.transaction().execute(async (queries) => {
    await queries.insertInto('notices').values(flood).execute()
    await queries.insertInto('notices').values({ ...change, ...other, email: 'last@acme.test', at: new Date() }).execute()
    const take = (): Promise<NoticeMail[]> =>
      takeWithin(queries, app.get('database').now, { within: 3_600, limit: 500, addresses: 20, daily: 25 }, randomUUID)
    return [await take(), await take()] as const
  })
  const [first, second] = taken
  t.ok(first.some(({ to }) => to === 'last@acme.test'))
  t.equal(first.length, 21)
  t.equal(first.flatMap(({ notices }) => notices).length, 401, 'all that waits for an address is told at once')
  t.equal(second.length, 5, 'and no more of them in a day than there may be')
  await owner.deleteFrom('notices').where('action', '=', 'key.created').where('company_id', '=', busy.companyId).execute()
})

await t.test('a mail that was taken is sent, and once, wherever its process ends', async (t) => {
  const { owner } = app.get('database')
  const pipeline = app.get('pipeline')
  const { dispatch } = pipeline
  const away = (): Promise<never> => Promise.reject(new Error('The database is away.'))
  const later = async (): Promise<void> => {
    await owner.updateTable('notices').set({ mailed_at: new Date(Date.now() - 61_000) }).where('recorded_at', 'is', null)
      .where('mail_id', 'is not', null).execute()
  }
  for (const [ended, interrupted] of [
    ['before its dispatch was recorded', away],
    ['after it', async (...given: Parameters<typeof dispatch>) => dispatch(...given).then(away)]
  ] as const) {
    await send('POST', '/api/v1/keys', { body: { name: 'later', mode: 'live' } }, acme.admin)
    pipeline.dispatch = interrupted
    await notices.mail()
    pipeline.dispatch = dispatch
    await notices.mail()
    const before = (await mailsTo(acme.admin.email)).length
    t.equal(before, ended === 'after it' ? 1 : 0, `it is left to its process for a minute, ${ended}`)
    await later()
    t.equal((await mailsTo(acme.admin.email)).length + before, 1, ended)
    await later()
    t.equal((await mailsTo(acme.admin.email)).length, 0, 'nothing is told twice')
  }
})

await t.test('an address with users in several companies gets one mail, which says whose each change is', async (t) => {
  const { owner } = app.get('database')
  const [one, two] = [await service.company('one'), await service.company('two')]
  const [to, at] = ['ada@both.test', new Date()]
  const notices = await Promise.all([one, two].map(async ({ companyId, admin: { email } }) => {
    const { user_id } = await owner.selectFrom('users').select('user_id').where('email', '=', email).executeTakeFirstOrThrow()
    return { company_id: companyId, user_id, email: to, action: 'key.created', by_user_id: null, address: null, mailed_at: null, at }
  }))
  const tell = linkMail.tell.bind(linkMail)
  const reported: string[] = []
  linkMail.tell = async (notice) => {
    if (notice.to === to) reported.push(notice.company, ...notice.changes.map(({ company = '' }) => company))
    await tell(notice)
  }
  t.teardown(() => {
    linkMail.tell = tell
  })
  // One statement: the sweep of the service itself takes both, or none.
  await owner.insertInto('notices').values(notices).execute()
  const mails = await mailsTo(to)
  t.same(reported, ['one, two', 'one', 'two'])
  for (const name of ['one: An API key was made.', 'two: An API key was made.']) contains(t, mails.join(), name)
})

await t.test('settings that lead a provider elsewhere are told to who has changed them', async (t) => {
  const configured = await service.company('leads')
  const settings = { host: 'mail.acme.test', user: 'user', password: 'password', allowedSenders: ['@acme.test'] }
  const put = async (changed: object): Promise<number> =>
    (await send('PUT', '/api/v1/company/providers/smtp', { body: { settings: { ...settings, ...changed } } }, configured.admin)).status
  t.equal(await put({}), 200)
  t.equal(await put({ password: 'another' }), 200)
  t.same(await actionsOf(configured.admin), ['configuration.changed'], 'the first one')
  t.equal(await put({ host: 'mail.evil.test' }), 200)
  t.same(await actionsOf(configured.admin), ['configuration.changed', 'configuration.changed'])
  const { body: { data: [entry] } } = await send('GET', '/api/v1/audit?action=configuration.changed', {}, configured.admin)
  t.same(entry.facts.destinations, ['host'])
})
