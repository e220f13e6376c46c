import t from 'tap'
import { createNetwork } from '../../core/host/http/network.ts'
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
const notices = app.get('notices')

const idOf = async (login: Login): Promise<number> =>
  (await send('GET', '/api/v1/users', {}, acme.operator)).body.data.find(({ email }: Login) => email === login.email).id
const told = async (login: Login): Promise<{ action: string, own: boolean, address?: string }[]> =>
  (await send('GET', '/api/v1/my/notices', {}, login)).body.data
const actionsOf = async (login: Login): Promise<string[]> => (await told(login)).map(({ action }) => action)

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
  const [notice] = await told(acme.member)
  has(t, notice, { action: 'key.created', own: false })
  t.equal(notice?.address, undefined, 'the address of somebody else')
  await send('POST', '/api/v1/keys', { body: { name: 'own', mode: 'test' } }, acme.member)
  has(t, (await told(acme.member))[0], { action: 'key.created', own: true, address: '127.0.0.1' })
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

await t.test('what cannot be mailed now is mailed later', async (t) => {
  await send('POST', '/api/v1/keys', { body: { name: 'later', mode: 'live' } }, acme.admin)
  const pipeline = app.get('pipeline')
  const { dispatch } = pipeline
  pipeline.dispatch = () => Promise.reject(new Error('The database is away.'))
  await notices.mail()
  pipeline.dispatch = dispatch
  t.equal((await mailsTo(acme.admin.email)).length, 1)
})
