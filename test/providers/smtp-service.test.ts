import type { SMTPServerOptions } from 'smtp-server'
import t, { type Test } from 'tap'
import { createVendor } from '../../core/packages/conformance/vendor/vendor.ts'
import type { Route } from '../../core/packages/vendor-io/http/transport.ts'
import { createNetwork } from '../../core/packages/vendor-io/network.ts'
import { has } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { admin, type Answer, type Login, startService, type TestService } from '../support/service.ts'
import { answer, type MailServer, mailServer } from '../support/smtp.ts'

type Stage = {
  server: MailServer
  send: (more?: Record<string, unknown>, path?: string, login?: Login) => Promise<Answer>
  ask: TestService['send']
  read: (dispatchId: string) => Promise<Answer>
}

/** The whole service with a company that sends through a mail server. */
async function begin (t: Test, options?: (cut: () => void) => SMTPServerOptions): Promise<Stage> {
  const server = await mailServer(t, options)
  const route: Route = (host, port) => host === 'mail.acme.test' ? server.route(host, port) : undefined
  const network = createNetwork({ loopback: 'allowed', ca: [server.ca], route })
  const { send } = await startService(t, { replacements: { network, renderer: quickRenderer } })
  const settings = { host: 'mail.acme.test', user: 'user', password: 'password', allowedSenders: ['@acme.test'] }
  has(t, await send('PUT', '/api/v1/company/providers/smtp', { body: { settings } }), {
    status: 200,
    body: { code: 'smtp', valid: true, settings: { password: { set: true } } }
  })
  return {
    server,
    ask: send,
    send: (more = {}, path = '/api/email', login = admin) =>
      send('POST', path, {
        body: {
          providerName: 'smtp',
          from: 'Billing <billing@acme.test>',
          to: ['ada@example.com'],
          subject: 'Your invoice',
          body: 'Hello.',
          ...more
        }
      }, login),
    read: (dispatchId) => send('GET', `/api/v1/dispatches/${dispatchId}`)
  }
}

const failing = (code: number, words: string) => (_: unknown, _session: unknown, callback: (error: Error) => void): void =>
  callback(answer(code, words))

await t.test('an e-mail goes out; recipients that the server does not take are told', async (t) => {
  const { server, send } = await begin(t, () => ({
    onRcptTo ({ address }, _session, callback) {
      callback(address.startsWith('no') ? answer(550, '5.1.1 No such user') : null)
    }
  }))
  has(t, await send(), {
    status: 200,
    body: {
      success: true,
      status: 'succeeded',
      service: 'email',
      providerName: 'smtp',
      providerResponse: { status: 'sent', accepted: ['ada@example.com'], rejected: [] }
    }
  })
  has(t, await send({ cc: 'nobody@example.com' }), {
    status: 200,
    body: {
      status: 'succeeded',
      providerResponse: {
        status: 'partially_sent',
        rejected: [{ address: 'nobody@example.com', code: 550, message: '"mail.acme.test" answered: 550 5.1.1 No such user' }]
      }
    }
  })
  has(t, server.mails, [{ from: 'billing@acme.test', to: ['ada@example.com'], secure: true, user: 'user' }, { to: ['ada@example.com'] }])
})

await t.test('a server that rejects it is a 500 distant_service_error with the SMTP code in the message', async (t) => {
  const { send, read } = await begin(t, () => ({
    onData (stream, _session, callback) {
      stream.resume().once('end', () => callback(answer(554, 'Spam.')))
    }
  }))
  const { status, body } = await send()
  has(t, { status, body }, { status: 500, body: { error: 'distant_service_error', message: /554 Spam\./, dispatchId: String } })
  has(t, (await read(body.dispatchId)).body, { status: 'failed', creditsCharged: 0, steps: [{ status: 'rejected' }] })
})

await t.test('a server that cannot take it now is a 503: nothing was sent', async (t) => {
  for (const options of [() => ({ onMailFrom: failing(451, 'Later.') }), (cut: () => void) => ({ onRcptTo: cut })]) {
    const { server, send } = await begin(t, options)
    has(t, await send(), { status: 503, body: { error: 'provider_unavailable' } })
    t.same(server.mails, [])
  }
})

await t.test('recipients who are put off, again and again, hold back nobody else', async (t) => {
  const { server, send } = await begin(t, () => ({
    onRcptTo ({ address }, _session, callback) {
      callback(address.startsWith('grey') ? answer(451, '4.7.1 Greylisted, please try again later') : null)
    }
  }))
  for (let mails = 0; mails < 6; mails++) {
    has(t, await send({ to: [`grey${mails}@example.com`] }), {
      status: 503,
      body: { error: 'provider_unavailable', message: /Greylisted/ }
    })
  }
  has(t, await send(), { status: 200 })
  t.equal(server.mails.length, 1)
})

await t.test('a connection that is cut after the whole message is a 504: it may have been sent', async (t) => {
  const { send, read } = await begin(t, (cut) => ({
    onData (stream) {
      stream.resume().once('end', cut)
    }
  }))
  const { status, body } = await send()
  has(t, { status, body }, { status: 504, body: { error: 'outcome_unknown', dispatchId: String } })
  has(t, (await read(body.dispatchId)).body, { status: 'uncertain', steps: [{ status: 'uncertain' }] })
})

await t.test('credentials that it refuses are a 422, and do not show', async (t) => {
  const { send } = await begin(t, () => ({ onAuth: failing(535, 'Wrong password.') }))
  const { status, body } = await send()
  has(t, { status, body }, { status: 422, body: { error: 'authentication_error', details: [{ code: '535' }] } })
})

await t.test('a sender that the configuration does not list is a 417, at validation too, and no connection is made', async (t) => {
  const { server, send } = await begin(t)
  for (const path of ['/api/email', '/api/email/validate']) {
    has(t, await send({ from: 'billing@other.test' }, path), {
      status: 417,
      body: { error: 'expectation_failed', details: [{ path: '/from', code: 'sender_not_allowed' }] }
    }, path)
    has(t, await send({ to: [] }, path), { status: 417, body: { error: 'expectation_failed' } }, path)
  }
  has(t, await send({}, '/api/email/validate'), { status: 200, body: { result: 'success' } })
  t.equal(server.connections(), 0)
})

await t.test('a member whose own mail server is dead holds back nobody else', async (t) => {
  const { server, send, ask } = await begin(t)
  const member = { email: 'member-with-a-server@example.com', password: 'a good password' }
  await ask('POST', '/api/v1/users', { body: { ...member, role: 'member', services: ['email'] } })
  const settings = { host: '127.0.0.1', port: 1, security: 'tls', allowedSenders: ['@own.test'] }
  has(t, await ask('PUT', '/api/v1/my/providers/smtp', { body: { settings } }, member), { status: 200 })
  const own = (): Promise<Answer> => send({ from: 'billing@own.test' }, '/api/email', member)
  for (let failures = 0; failures < 5; failures++) has(t, await own(), { status: 503, body: { message: /refused the connection/ } })
  has(t, await own(), { status: 503, body: { message: /failed several times in a row/ } })

  has(t, await send(), { status: 200 })
  t.equal(server.mails.length, 1)
  const health = async (login: Login): Promise<unknown> => {
    const { body } = await ask('GET', '/api/v1/providers?schemas=false', {}, login)
    return body.data.find(({ code }: { code: string }) => code === 'smtp').health
  }
  has(t, await health(member), { state: 'failing', reason: /^With your own settings/ })
  t.same(await health(admin), { state: 'ok' })
})

const tenant = '0f8b7c1e-5a3d-4c2b-9e6f-1a2b3c4d5e6f'
const login = `/${tenant}/oauth2/v2.0`
const office = {
  host: 'mail.acme.test',
  user: 'billing@acme.test',
  tenant,
  clientId: 'client-1',
  clientSecret: 'client-secret-5f2b8c91',
  allowedSenders: ['billing@acme.test']
}

/** The whole service before the servers of Microsoft: one that issues tokens, and one that takes those in `good` for mail. */
async function beginOffice (t: Test) {
  const good = new Set<string>()
  const server = await mailServer(t, () => ({
    authMethods: ['XOAUTH2'],
    onAuth ({ username: user = '', accessToken = '' }, _session, callback) {
      if (good.has(accessToken)) callback(null, { user })
      else callback(answer(535, '5.7.3 Authentication unsuccessful'))
    }
  }))
  const vendor = await createVendor()
  const network = createNetwork({
    loopback: 'allowed',
    ca: [server.ca, vendor.ca],
    route: (host, port) => host === 'mail.acme.test' ? server.route(host, port) : vendor.route(host, port)
  })
  t.teardown(() => vendor.close())
  let count = 0
  vendor.on(`POST ${login}/token`, () => {
    good.clear()
    good.add(`access-${++count}`)
    return { json: { access_token: `access-${count}`, refresh_token: `refresh-${count}`, expires_in: 3599 } }
  })
  const { send } = await startService(t, { replacements: { network, renderer: quickRenderer } })
  return {
    server,
    vendor,
    send,
    /** The mail server takes no token that it has taken before. */
    revoke: () => good.clear(),
    configure: (settings: object) => send('PUT', '/api/v1/company/providers/smtp', { body: { settings } }),
    check: () => send('POST', '/api/v1/company/providers/smtp/check'),
    mail: () =>
      send('POST', '/api/email', {
        body: { providerName: 'smtp', from: 'billing@acme.test', to: 'ada@example.com', subject: 'Your invoice', body: 'Hello.' }
      })
  }
}

await t.test('a mailbox at Microsoft is connected by a person, and its mail goes out with their token', async (t) => {
  const { server, vendor, send, revoke, configure, check, mail } = await beginOffice(t)
  const unconnected = { valid: false, connection: { state: 'not_connected' } }
  has(t, await configure({ ...office, signIn: 'microsoft' }), { status: 200, body: unconnected })
  has(t, await mail(), { status: 422, body: { error: 'configuration_missing', message: /not connected/ } })
  const at = '/api/v1/company/providers/smtp/connect'
  const url = new URL((await send('GET', at)).body.url as string)
  t.equal(`${url.origin}${url.pathname}`, `https://login.microsoftonline.com${login}/authorize`)
  t.equal(url.searchParams.get('scope'), 'https://outlook.office.com/SMTP.Send offline_access')
  const state = url.searchParams.get('state') ?? ''
  const back = await send('GET', `/api/connect/smtp/callback?${String(new URLSearchParams({ code: 'code-1', state }))}`, {}, null)
  const [, confirmation] = /"confirmation": "([\w-]{43})"/.exec(String(back.body)) ?? []
  has(t, await send('POST', at, { body: { confirmation } }), { status: 200 })

  has(t, await check(), { status: 200, body: { result: 'ok' } })
  t.equal(server.mails.length, 0, 'a check sends nothing')
  has(t, await mail(), { status: 200, body: { providerResponse: { status: 'sent' } } })
  revoke()
  server.cut()
  has(t, await mail(), { status: 200, body: { providerResponse: { status: 'sent' } } })
  t.same(server.mails.map(({ user }) => user), ['billing@acme.test', 'billing@acme.test'])
  has(t, vendor.requests.map(({ form = {} }) => form['grant_type']), ['authorization_code', 'refresh_token'])

  has(t, await configure({ ...office, signIn: 'microsoft', host: 'mail.other.test' }), { status: 200, body: unconnected },
    'a token is for the server for which it was asked')
  has(t, await mail(), { status: 422, body: { error: 'configuration_missing' } })
  t.equal(server.mails.length, 2)
})

await t.test('an app of Microsoft signs in by itself, for the mailbox that its settings name', async (t) => {
  const { server, vendor, configure, check, mail } = await beginOffice(t)
  has(t, await configure({ ...office, signIn: 'microsoft_app' }), { status: 200, body: { valid: true } })
  has(t, await check(), { body: { result: 'ok' } })
  has(t, await mail(), { status: 200, body: { providerResponse: { status: 'sent' } } })
  has(t, server.mails, [{ user: 'billing@acme.test', secure: true }])
  has(t, vendor.requests.map(({ form }) => form), [{
    grant_type: 'client_credentials',
    scope: 'https://outlook.office365.com/.default',
    client_id: 'client-1',
    client_secret: 'client-secret-5f2b8c91'
  }], 'one token for both')
})

await t.test('a check signs in, sends nothing, and tells what the mail server says', async (t) => {
  const { server, ask } = await begin(t)
  const checked = async (settings: object): Promise<Answer> => {
    await ask('PUT', '/api/v1/company/providers/smtp', { body: { settings: { allowedSenders: ['@acme.test'], ...settings } } })
    return await ask('POST', '/api/v1/company/providers/smtp/check')
  }
  const host = 'mail.acme.test'
  has(t, await checked({ host, user: 'user', password: 'password' }), { status: 200, body: { result: 'ok' } })
  has(t, await checked({ host, user: 'user', password: 'another' }), { body: { result: 'failed', code: '535', message: /Wrong user/ } })
  has(t, await checked({ host: '127.0.0.1', port: 1 }), { body: { result: 'cannot_be_checked', message: /refused the connection/ } })
  t.equal(server.mails.length, 0)
})

await t.test('each kind of sign-in says which settings it needs', async (t) => {
  const { configure } = await beginOffice(t)
  const { host, user, allowedSenders } = office
  for (const [signIn, missing] of [
    ['microsoft', ['tenant', 'clientId', 'clientSecret']],
    ['microsoft_app', ['tenant', 'clientId', 'clientSecret']],
    ['google', ['clientId', 'clientSecret']],
    ['password', ['password']]
  ] as const) {
    const { status, body } = await configure({ host, user, allowedSenders, signIn })
    t.equal(status, 422, signIn)
    t.same(body.details.map(({ path }: { path: string }) => path).sort(), missing.map((name) => `/settings/${name}`).sort(), signIn)
  }
})
