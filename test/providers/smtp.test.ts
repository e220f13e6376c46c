import type { DocumentHandle } from '@dispatch/common'
import { generateKeyPairSync } from 'node:crypto'
import { realpath } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { SMTPServerOptions } from 'smtp-server'
import t, { type Test } from 'tap'
import type { JsonObject } from '../../core/packages/common/json.ts'
import { createAuthority } from '../../core/packages/conformance/vendor/certificates.ts'
import { type CallContext, callDispatch, type Outcome } from '../../core/packages/host/call/dispatch.ts'
import { loadProvider } from '../../core/packages/host/load/load.ts'
import { checkSettings } from '../../core/packages/host/settings/settings.ts'
import type { EmailDispatch } from '../../core/packages/services/email/index.ts'
import { createNetwork } from '../../core/packages/vendor-io/network.ts'
import { callContext, outside } from '../fixtures/providers/call.ts'
import { contains, has, lacks } from '../support/matching.ts'
import { answer, type MailServer, mailServer } from '../support/smtp.ts'

const settings = { host: 'mail.acme.test', user: 'user', password: 'password', allowedSenders: ['@acme.test'] }
const email: EmailDispatch['email'] = {
  from: 'billing@acme.test',
  to: ['ada@example.com'],
  cc: [],
  bcc: [],
  subject: 'Your invoice',
  text: 'Hello.'
}
const pdf: DocumentHandle = {
  id: '01960000-0000-7000-8000-000000000001',
  filename: 'F-1.pdf',
  contentType: 'application/pdf',
  size: 8,
  sha256: 'c'.repeat(64)
}

const provider = await loadProvider(await realpath(new URL('../../providers/smtp', import.meta.url).pathname), 'as it is', 10)

type More = Partial<Omit<CallContext, 'resources'>> & {
  email?: Partial<EmailDispatch['email']>
  attachments?: DocumentHandle[]
  inline?: EmailDispatch['inline']
}
type Stage = { server: MailServer, send: (more?: More) => Promise<Outcome> }

/** The provider before a mail server; `ca` replaces the authority that it trusts. */
async function begin (t: Test, options?: (cut: () => void) => SMTPServerOptions, ca?: string): Promise<Stage> {
  const server = await mailServer(t, options)
  const network = createNetwork({ loopback: 'allowed', ca: [ca ?? server.ca], route: server.route })
  t.teardown(() => network.close())
  const documents = {
    read: () => Promise.resolve(Readable.from([Buffer.from('%PDF-2.0')])),
    keep: () => Promise.reject(new Error('Nothing is kept.'))
  }
  return {
    server,
    send: ({ email: other, attachments = [], inline = [], ...more } = {}) =>
      callDispatch(provider, 'email', { email: { ...email, ...other }, inline, attachments, metadata: {} },
        callContext({ settings, ...more, resources: outside({ network, documents }) }))
  }
}

const failing = (code: number, words: string) => (_: unknown, _session: unknown, callback: (error: Error) => void): void =>
  callback(answer(code, words))

await t.test('an e-mail is sent: over TLS, signed in, with its attachments and our reference', async (t) => {
  const { server, send } = await begin(t)
  const sent = await send({
    reference: 'step-7',
    email: { cc: ['cc@example.com'], bcc: ['bcc@example.com'], replyTo: 'reply@acme.test', html: '<p>Hello.</p>' },
    attachments: [pdf]
  })
  has(t, sent, {
    outcome: 'accepted',
    response: {
      id: /^<[^<>@]+@acme\.test>$/,
      status: 'sent',
      response: /^250 .*Queued\.$/,
      accepted: ['ada@example.com', 'cc@example.com', 'bcc@example.com'],
      rejected: []
    }
  })
  has(t, server.mails, [{
    from: 'billing@acme.test',
    to: ['ada@example.com', 'cc@example.com', 'bcc@example.com'],
    secure: true,
    user: 'user'
  }])
  const source = server.mails[0]?.source ?? ''
  for (const line of [
    /^Subject: Your invoice$/m,
    /^Reply-To: reply@acme\.test$/m,
    /^Cc: cc@example\.com$/m,
    /^X-Dispatch-Reference: step-7$/m,
    /text\/plain/,
    /text\/html/,
    /filename=F-1\.pdf/
  ]) contains(t, source.replaceAll('\r', ''), line)
  contains(t, source, Buffer.from('%PDF-2.0').toString('base64'))
})

await t.test('the settings say how: TLS from the first byte, no sign-in', async (t) => {
  const { server, send } = await begin(t, () => ({ secure: true, authOptional: true }))
  has(t, await send({ settings: { host: settings.host, port: 2465, security: 'tls', allowedSenders: settings.allowedSenders } }), {
    outcome: 'accepted'
  })
  has(t, server.mails, [{ secure: true, user: undefined }])
})

await t.test('connections are kept from one e-mail to the next', async (t) => {
  const { server, send } = await begin(t)
  await send()
  await send()
  t.equal(server.mails.length, 2)
  t.equal(server.connections(), 1)
})

await t.test('recipients that the server refuses beside accepted ones are told, each with its code', async (t) => {
  const { server, send } = await begin(t, () => ({
    onRcptTo ({ address }, _session, callback) {
      callback(address.startsWith('no') ? answer(550, `5.1.1 ${'No such user. '.repeat(30)}`) : null)
    }
  }))
  const sent = await send({ email: { to: ['ada@example.com', 'nobody@example.com'], bcc: ['none@example.com'] } })
  has(t, sent, {
    outcome: 'accepted',
    response: {
      status: 'partially_sent',
      accepted: ['ada@example.com'],
      rejected: [
        { address: 'nobody@example.com', code: 550, message: /^"mail\.acme\.test" answered: 550 5\.1\.1 No such user.{1,180}$/ },
        { address: 'none@example.com', code: 550 }
      ]
    }
  })
  has(t, server.mails, [{ to: ['ada@example.com'] }])
})

await t.test('the longest answer that there can be is still one', async (t) => {
  const { send } = await begin(t, () => ({
    onRcptTo ({ address }, _session, callback) {
      callback(address.startsWith('a0-') ? null : answer(550, 'No such user. '.repeat(50)))
    }
  }))
  const many = (field: string): string[] => Array.from({ length: 50 }, (_, index) => `${field}${index}-${'x'.repeat(55)}@example.com`)
  has(t, await send({ email: { to: many('a'), cc: many('b'), bcc: many('c') } }), {
    outcome: 'accepted',
    response: { status: 'partially_sent' }
  })
})

const refusals: [what: string, options: SMTPServerOptions, outcome: Outcome][] = [
  [
    'the sender for good',
    { onMailFrom: failing(550, 'Not you.') },
    { outcome: 'rejected', error: { word: 'distant_service_error', code: '550', message: '"mail.acme.test" answered: 550 Not you.' } }
  ],
  [
    'the only recipient for good',
    { onRcptTo: failing(550, '5.1.1 No such user') },
    {
      outcome: 'rejected',
      error: { word: 'distant_service_error', code: '550', message: '"mail.acme.test" answered: 550 5.1.1 No such user' }
    }
  ],
  [
    'the message for good',
    {
      onData (stream, _session, callback) {
        stream.resume().once('end', () => callback(answer(552, 'Too large.')))
      }
    },
    { outcome: 'rejected', error: { word: 'distant_service_error', code: '552', message: '"mail.acme.test" answered: 552 Too large.' } }
  ],
  [
    'the message for now',
    {
      onData (stream, _session, callback) {
        stream.resume().once('end', () => callback(answer(452, 'Full.')))
      }
    },
    { outcome: 'unavailable', error: { word: 'provider_unavailable', code: '452', message: '"mail.acme.test" answered: 452 Full.' } }
  ],
  [
    'the recipient for now',
    { onRcptTo: failing(450, 'Mailbox busy') },
    {
      outcome: 'unavailable',
      error: { word: 'recipient_unavailable', code: '450', message: '"mail.acme.test" answered: 450 Mailbox busy' }
    }
  ],
  [
    'the sign-in for now',
    { onAuth: (_auth, _session, callback) => callback(answer(454, 'Try later.')) },
    { outcome: 'unavailable', error: { word: 'provider_unavailable', code: '454', message: '"mail.acme.test" answered: 454 Try later.' } }
  ]
]

for (const [what, options, outcome] of refusals) {
  await t.test(`the server refuses ${what}: its code is in the message`, async (t) => {
    const { server, send } = await begin(t, () => options)
    has(t, await send(), outcome)
    t.strictSame(server.mails, [])
  })
}

await t.test('a wrong password is the configuration\'s fault, and is not told', async (t) => {
  const { server, send } = await begin(t)
  const outcome = await send({ settings: { ...settings, password: 'not-the-password' } })
  has(t, outcome, { outcome: 'rejected', error: { word: 'authentication_error', code: '535' } })
  lacks(t, JSON.stringify(outcome), /not-the-password/)
  t.strictSame(server.mails, [])
})

await t.test('a server whose certificate nobody vouches for is sent nothing', async (t) => {
  const { ca } = await createAuthority()
  const { server, send } = await begin(t, undefined, ca)
  has(t, await send(), { outcome: 'unavailable', error: { word: 'provider_unavailable', message: /certificate/ } })
  t.strictSame(server.mails, [])
})

await t.test('a server without STARTTLS is sent nothing', async (t) => {
  const { server, send } = await begin(t, () => ({ hideSTARTTLS: true, disabledCommands: ['STARTTLS'] }))
  has(t, await send(), { outcome: 'unavailable', error: { word: 'provider_unavailable', message: /offers no TLS \(STARTTLS\)/ } })
  t.strictSame(server.mails, [])
})

await t.test('a connection that is cut before the message: nothing was accepted', async (t) => {
  for (const options of [
    (cut: () => void) => ({ onConnect: cut }),
    (cut: () => void) => ({ onMailFrom: cut }),
    (cut: () => void) => ({ onRcptTo: cut })
  ]) {
    const { send } = await begin(t, options)
    has(t, await send(), { outcome: 'unavailable', error: { word: 'provider_unavailable' } })
  }
})

await t.test('a connection that is cut after the message: it may have been accepted, and nobody can be asked', async (t) => {
  const { send } = await begin(t, (cut) => ({
    onData (stream) {
      stream.resume().once('end', cut)
    }
  }))
  has(t, await send(), { outcome: 'uncertain', error: { word: 'outcome_unknown' } })
  has(t, provider.manifest.services.email, { idempotency: { kind: 'none' }, verbs: ['dispatch'] })
})

await t.test('a sandbox dispatch sends nothing', async (t) => {
  const { server, send } = await begin(t)
  has(t, await send({ sandbox: true }), { outcome: 'rejected', error: { code: 'no_sandbox' } })
  t.equal(server.connections(), 0)
})

await t.test('an e-mail has the headers of the client and ours, and is signed where there is a key', async (t) => {
  const { server, send } = await begin(t)
  const dkim = {
    dkimDomain: 'acme.test',
    dkimSelector: 'k1',
    dkimPrivateKey: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' })
  }
  const address = `https://acme.test/unsubscribe/${'a'.repeat(300)}`
  const headers = {
    'List-Unsubscribe': `<${address}>, <mailto:leave@acme.test>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    'X-Campaign': 'é'
  }
  has(t, await send({ settings: { ...settings, ...dkim }, reference: 'step-7', email: { headers } }), { outcome: 'accepted' })
  const source = (server.mails[0]?.source ?? '').replaceAll(/\r\n[ \t]+/g, ' ').replaceAll('\r', '')
  for (const line of [
    `List-Unsubscribe: <${address}>, <mailto:leave@acme.test>`,
    'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
    'X-Campaign: =?UTF-8?B?w6k=?=',
    'DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=acme.test; q=dns/txt; s=k1;',
    'X-Dispatch-Reference: step-7'
  ]) contains(t, source, `\n${line}`.slice(line.startsWith('DKIM') ? 1 : 0))
})

await t.test('its settings are a form, and what cannot work is refused', (t) => {
  const { settings: form } = provider.manifest
  for (const [name, field] of Object.entries(form.properties)) has(t, field, { title: String, description: String }, name)
  has(t, form.properties['password'], { 'x-secret': true })
  has(t, form.properties['host'], { 'x-destination': true })
  t.same(checkSettings(form, settings), [])
  t.same(checkSettings(form, { ...settings, port: 2525, security: 'tls', allowedSenders: ['billing@acme.test', '@acme.test'] }), [])
  const wrong: JsonObject[] = [
    { allowedSenders: [] },
    { allowedSenders: ['acme.test'] },
    { allowedSenders: ['Ada <ada@acme.test>'] },
    { port: 0 },
    { port: 65_536 },
    { security: 'none' },
    { host: '' },
    { password: '' },
    { secure: true }
  ]
  for (const more of wrong) t.equal(checkSettings(form, { ...settings, ...more }).length, 1, JSON.stringify(more))
  const { host, user, password, allowedSenders } = settings
  for (const half of [{ user }, { password }]) {
    t.equal(checkSettings(form, { host, allowedSenders, ...half }).length, 1, JSON.stringify(half))
  }
  t.equal(checkSettings(form, { host }).length, 1, 'somebody must be allowed to send')

  const key = (type: 'rsa' | 'ec', more: object = {}): string =>
    generateKeyPairSync(type as 'rsa', { modulusLength: 2048, namedCurve: 'P-256', ...more }).privateKey.export({
      type: 'pkcs8',
      format: 'pem',
      ...more
    })
  const dkim = { dkimDomain: 'acme.test', dkimSelector: 'k1', dkimPrivateKey: key('rsa') }
  t.same(checkSettings(form, { ...settings, ...dkim }), [])
  has(t, form.properties['dkimPrivateKey'], { 'x-secret': true })
  for (const dkimPrivateKey of [
    'not a key',
    key('ec'),
    key('rsa', { modulusLength: 512 }),
    key('rsa', { cipher: 'aes-256-cbc', passphrase: 'secret' }),
    dkim.dkimPrivateKey.slice(0, -100)
  ]) {
    has(t, checkSettings(form, { ...settings, ...dkim, dkimPrivateKey }), [{
      path: '/dkimPrivateKey',
      code: 'format',
      message: 'Not a valid private RSA key in PEM (of 1024 bits or more, without a passphrase).'
    }])
  }
  for (const more of [{ dkimDomain: 'a; d=b.test' }, { dkimDomain: 'acme' }, { dkimSelector: 'a=b' }, { dkimSelector: '' }]) {
    t.equal(checkSettings(form, { ...settings, ...dkim, ...more }).length, 1, JSON.stringify(more))
  }
  for (const name of ['dkimDomain', 'dkimSelector', 'dkimPrivateKey'] as const) {
    t.ok(checkSettings(form, { ...settings, [name]: dkim[name] }).length > 0, name)
  }
  t.end()
})
