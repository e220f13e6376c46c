import type { DocumentHandle } from '@dispatch/common'
import { createHash, createVerify, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { mock } from 'node:test'
import { createServer as createTlsServer } from 'node:tls'
import type { SMTPServerOptions } from 'smtp-server'
import t, { type Test } from 'tap'
import { memoryLog } from '../../../../test/fixtures/providers/call.ts'
import { contains, has, lacks } from '../../../../test/support/matching.ts'
import { answer, type MailServer, mailServer } from '../../../../test/support/smtp.ts'
import { createAuthority } from '../../conformance/vendor/certificates.ts'
import type { Route } from '../http/transport.ts'
import { createNetwork, type Network, type NetworkOptions } from '../network.ts'
import { type Failure, failureOf } from '../outcome/failure.ts'
import { createProgress } from '../outcome/request-outcome.ts'
import type { Smtp, SmtpMessage, SmtpTransport } from '../smtp/message.ts'
import { createSmtp, type SmtpOptions } from '../smtp/smtp.ts'

const transport: SmtpTransport = { host: 'mail.acme.test', user: 'user', password: 'password' }
const pdf: DocumentHandle = {
  id: '01960000-0000-7000-8000-000000000001',
  filename: 'Facture é.pdf',
  contentType: 'application/pdf',
  size: 8,
  sha256: 'c'.repeat(64)
}
const documents = { read: () => Promise.resolve(Readable.from([Buffer.from('%PDF-2.0')])) }
const message = (more: Partial<SmtpMessage> = {}): SmtpMessage => ({
  from: 'Acme <billing@acme.test>',
  to: ['ada@example.com'],
  subject: 'Your invoice',
  text: 'Hello.',
  ...more
})

function networkOf (t: Test, options: NetworkOptions): Network {
  const network = createNetwork({ loopback: 'allowed', ...options })
  t.teardown(() => network.close())
  return network
}

function smtpOf ({ mailers, accessTokens }: Network, more: Partial<SmtpOptions> = {}): Smtp {
  return createSmtp({
    mailers,
    accessTokens,
    conceal: () => undefined,
    account: 'company 1',
    targets: { provider: 'mail', declared: [], chosen: ['mail.acme.test'] },
    documents,
    progress: createProgress({ passed: true }),
    ended: new AbortController().signal,
    holds: () => true,
    log: memoryLog(),
    ...more
  })
}

/** A server, and the `smtp` that reaches it. */
async function begin (
  t: Test,
  options: (cut: () => void) => SMTPServerOptions = () => ({}),
  more: Partial<SmtpOptions> = {}
): Promise<{ server: MailServer, smtp: Smtp, network: Network }> {
  const server = await mailServer(t, options)
  const network = networkOf(t, { ca: [server.ca], route: server.route })
  return { server, network, smtp: smtpOf(network, more) }
}

/** A server that answers one command, or the message, with a refusal, and hangs up with it. It greets once `greets` has resolved. */
async function abruptServer (
  t: Test,
  at: string,
  extensions: readonly string[],
  greets: () => Promise<unknown> = () => Promise.resolve()
): Promise<{ ca: string, route: Route }> {
  const authority = await createAuthority()
  const server = createTlsServer(await authority.issue('mail.acme.test'), (socket) => {
    const say = (line: string): boolean => socket.write(`${line}\r\n`)
    let received = ''
    socket.on('error', () => undefined)
    greets().then(() => say('220 mail.acme.test'), () => undefined)
    socket.on('data', (data: Buffer) => {
      received += data.toString()
      const lines = received.split('\r\n')
      received = lines.pop() ?? ''
      for (const line of lines) {
        const [verb = ''] = line.split(' ')
        if (verb === at) {
          socket.end('550 5.7.1 Go away\r\n')
          return
        }
        if (verb === 'EHLO') say(['250-mail.acme.test', ...extensions.map((name) => `250-${name}`), '250 8BITMIME'].join('\r\n'))
        else if (verb === 'DATA') say('354 Go on')
        else if (['AUTH', 'MAIL', 'RCPT', 'RSET', 'QUIT', '.'].includes(verb)) say(verb === 'AUTH' ? '235 Yes' : '250 Yes')
      }
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  return { ca: authority.ca, route: () => ({ host: '127.0.0.1', port }) }
}

/** The DKIM signature of a message (RFC 6376, relaxed/relaxed), and whether it is one of a message. */
function signatureIn (
  source: string,
  key: KeyObject
): { tags: Partial<Record<'h' | 'bh' | 'b', string>>, valid: (message: string) => boolean } {
  const [, field = ''] = /^DKIM-Signature: ((?:.*\r\n)(?:[ \t].*\r\n)*)/m.exec(source) ?? []
  const tags: Partial<Record<'h' | 'bh' | 'b', string>> = Object.fromEntries(
    field.split(';').map((tag) => tag.trim().split(/=(.*)/s, 2).map((part) => part.replaceAll(/\s/g, '')))
  )
  const relaxed = (text: string): string => text.replaceAll('\r\n', '').replaceAll(/[ \t]+/g, ' ').trim()
  const valid = (message: string): boolean => {
    const [, head = '', body = ''] = /^(.*?\r\n)\r\n(.*)$/s.exec(message) ?? []
    const fields = head.split(/\r\n(?![ \t])/).map((line) => line.split(/:(.*)/s, 2))
    const valueOf = (name: string): string => relaxed(fields.findLast(([other = '']) => other.toLowerCase() === name)?.[1] ?? '')
    const canonical = `${body.replaceAll(/[ \t]+/g, ' ').replaceAll(' \r\n', '\r\n').replace(/(\r\n)+$/, '')}\r\n`
    const signed = [
      ...(tags.h ?? '').split(':').map((name) => `${name}:${valueOf(name)}`),
      `dkim-signature:${relaxed(field.replace(/b=[^;=]+=*\s*$/, 'b='))}`
    ].join('\r\n')
    return createHash('sha256').update(canonical).digest('base64') === tags.bh &&
      createVerify('RSA-SHA256').update(signed).verify(key, tags.b ?? '', 'base64')
  }
  return { tags, valid }
}

const failed = (sending: Promise<unknown>): Promise<Failure | undefined> =>
  sending.then(() => undefined, (error: unknown) => failureOf(error) ?? Promise.reject(error as Error))

await t.test('a message is sent over TLS, signed in, with its attachments', async (t) => {
  const { server, smtp } = await begin(t)
  const receipt = await smtp.send(
    message({
      to: ['Ada <ada@example.com>', 'bob@example.com'],
      cc: ['cc@example.com'],
      bcc: ['bcc@example.com'],
      replyTo: 'reply@acme.test',
      subject: 'Facture n° 1',
      html: '<p>Bonjour</p>',
      attachments: [pdf],
      headers: { 'X-Step': 'step-1' }
    }),
    transport
  )
  has(t, receipt, {
    messageId: /^<[0-9a-f-]{36}@acme\.test>$/,
    response: /^250 .*Queued\.$/,
    accepted: ['ada@example.com', 'bob@example.com', 'cc@example.com', 'bcc@example.com'],
    rejected: []
  })
  const [mail] = server.mails
  has(t, mail, {
    from: 'billing@acme.test',
    to: ['ada@example.com', 'bob@example.com', 'cc@example.com', 'bcc@example.com'],
    secure: true,
    user: 'user'
  })
  for (const line of [
    /^From: Acme <billing@acme\.test>/m,
    /^To: Ada <ada@example\.com>, bob@example\.com/m,
    /^Reply-To: reply@acme\.test/m,
    /^Subject: =\?UTF-8\?/m,
    /^X-Step: step-1/m,
    /text\/html/,
    /text\/plain/,
    /application\/pdf/
  ]) contains(t, mail?.source, line)
  contains(t, mail?.source, Buffer.from('%PDF-2.0').toString('base64'))
  contains(t, mail?.source, `Message-ID: ${receipt.messageId}`)
  lacks(t, mail?.source, /bcc@example\.com/, 'the hidden recipients stay hidden')
})

await t.test('TLS from the first byte works too, and no login where there is none', async (t) => {
  const { server, smtp } = await begin(t, () => ({ secure: true, authOptional: true }))
  await smtp.send(message(), { host: 'mail.acme.test', security: 'tls' })
  has(t, server.mails, [{ secure: true }])
})

await t.test('the ports are those of the protocol unless told', async (t) => {
  const requested: number[] = []
  const network = networkOf(t, {
    route: (_host, port) => {
      requested.push(port)
      return { host: '127.0.0.1', port: 1 }
    }
  })
  for (const more of [{}, { security: 'tls' }, { port: 2525 }] as const) {
    await failed(smtpOf(network).send(message(), { ...transport, ...more }))
  }
  t.strictSame(requested, [587, 465, 2525])
})

await t.test('connections are kept for one account and its settings', async (t) => {
  const { server, network, smtp } = await begin(t)
  await smtp.send(message(), transport)
  await smtp.send(message(), transport)
  t.equal(server.connections(), 1)
  await smtpOf(network, { account: 'company 2' }).send(message(), transport)
  t.equal(server.connections(), 2)
  has(t, await failed(smtpOf(network).send(message(), { ...transport, password: 'changed' })), { word: 'authentication_error' })
  t.equal(server.connections(), 3)
})

const refuse = (code: number, text: string) => (_: unknown, _session: unknown, callback: (error: Error) => void): void =>
  callback(answer(code, text))

const refusals: [what: string, options: SMTPServerOptions, failure: Failure][] = [
  [
    'a sender for good',
    { onMailFrom: refuse(550, 'Not you.') },
    { word: 'distant_service_error', code: '550', message: '"mail.acme.test" answered: 550 Not you.' }
  ],
  [
    'a sender for now',
    { onMailFrom: refuse(451, 'Later.') },
    { word: 'provider_unavailable', code: '451', message: '"mail.acme.test" answered: 451 Later.' }
  ],
  [
    'the only recipient for good',
    { onRcptTo: refuse(550, '5.1.1 No such user') },
    { word: 'distant_service_error', code: '550', message: '"mail.acme.test" answered: 550 5.1.1 No such user' }
  ],
  [
    'the only recipient for now',
    { onRcptTo: refuse(450, 'Mailbox busy') },
    { word: 'recipient_unavailable', code: '450', message: '"mail.acme.test" answered: 450 Mailbox busy' }
  ],
  [
    'the recipients for a reason of its own',
    { onRcptTo: refuse(452, '4.3.1 Mail system full') },
    { word: 'provider_unavailable', code: '452', message: '"mail.acme.test" answered: 452 4.3.1 Mail system full' }
  ],
  [
    'the recipients and goes',
    { onRcptTo: refuse(421, 'Closing') },
    { word: 'provider_unavailable', code: '421', message: '"mail.acme.test" answered: 421 Closing' }
  ],
  [
    'the message for good',
    {
      onData (stream, _session, callback) {
        stream.resume().once('end', () => callback(answer(554, 'Spam.')))
      }
    },
    { word: 'distant_service_error', code: '554', message: '"mail.acme.test" answered: 554 Spam.' }
  ],
  [
    'the message for now',
    {
      onData (stream, _session, callback) {
        stream.resume().once('end', () => callback(answer(452, 'Full.')))
      }
    },
    { word: 'provider_unavailable', code: '452', message: '"mail.acme.test" answered: 452 Full.' }
  ],
  [
    'the connection',
    { onConnect: (_session, callback) => callback(answer(554, 'Go away.')) },
    { word: 'distant_service_error', code: '554', message: '"mail.acme.test" answered: 554 Go away.' }
  ],
  [
    'the connection for now',
    { onConnect: (_session, callback) => callback(answer(421, 'Busy.')) },
    { word: 'provider_unavailable', code: '421', message: '"mail.acme.test" answered: 421 Busy.' }
  ],
  [
    'the login for now',
    { onAuth: (_auth, _session, callback) => callback(answer(454, 'Try later.')) },
    { word: 'provider_unavailable', code: '454', message: '"mail.acme.test" answered: 454 Try later.' }
  ]
]

for (const [what, options, failure] of refusals) {
  await t.test(`the server refuses ${what}: nothing was accepted`, async (t) => {
    const { server, smtp } = await begin(t, () => options)
    t.strictSame(await failed(smtp.send(message({ attachments: [pdf] }), transport)), failure)
    t.strictSame(server.mails, [])
  })
}

await t.test('a bad login is the company\'s', async (t) => {
  const { smtp } = await begin(t)
  has(t, await failed(smtp.send(message(), { ...transport, password: 'wrong' })), {
    word: 'authentication_error',
    code: '535',
    message: '"mail.acme.test" answered: 535 Wrong user or password.'
  })
  has(t, await failed(smtp.send(message(), { host: 'mail.acme.test' })), { word: 'distant_service_error', code: '530' })
})

/** A server that takes the tokens in the list, by XOAUTH2 alone. `tried` are those that it was shown. */
async function tokenServer (t: Test, good: readonly string[]) {
  const tried: (string | undefined)[] = []
  const begun = await begin(t, () => ({
    authMethods: ['XOAUTH2'],
    onAuth ({ username: user = '', accessToken }, _session, callback) {
      tried.push(accessToken)
      if (good.includes(accessToken ?? '')) callback(null, { user })
      else callback(null, { data: { status: '401', schemes: 'bearer', scope: 'https://mail.google.com/' } })
    }
  }))
  return { ...begun, tried }
}

/** A connection whose tokens are those of the list, each until it is dropped. */
function connection (tokens: string[], dropped: string[] = []): Pick<SmtpOptions, 'connection'> {
  return {
    connection: {
      facts: {},
      token: () => Promise.resolve({ value: tokens[0] ?? 'none', cached: dropped.length === 0 }),
      drop (value) {
        dropped.push(value)
        tokens.shift()
        return Promise.resolve()
      }
    }
  }
}

const byToken: SmtpTransport = { host: 'mail.acme.test', user: 'billing@acme.test', oauth2: { grant: 'authorization_code' } }

await t.test('the access token of a connection signs in, by XOAUTH2', async (t) => {
  const { server, network, tried } = await tokenServer(t, ['token-1'])
  const concealed: string[] = []
  const smtp = smtpOf(network, { ...connection(['token-1']), conceal: (secret) => concealed.push(secret) })
  await smtp.send(message(), byToken)
  has(t, server.mails, [{ user: 'billing@acme.test', secure: true }])
  t.same(tried, ['token-1'])
  t.same(concealed, ['token-1'], 'it is shown nowhere')
})

await t.test('a token that the server does not take any more is renewed once, and the message goes out with the new one', async (t) => {
  const { server, network } = await tokenServer(t, ['token-2'])
  const dropped: string[] = []
  await smtpOf(network, connection(['token-1', 'token-2'], dropped)).send(message(), byToken)
  t.same(dropped, ['token-1'])
  t.equal(server.mails.length, 1)
})

await t.test('a fresh token that the server does not take is the company\'s fault', async (t) => {
  const { server, network } = await tokenServer(t, [])
  const dropped: string[] = []
  const refused = await failed(smtpOf(network, connection(['token-1', 'token-2', 'token-3'], dropped)).send(message(), byToken))
  has(t, refused, { word: 'authentication_error' })
  t.same(dropped, ['token-1'], 'the second one is not dropped')
  t.equal(server.mails.length, 0)
})

await t.test('sessions of one token are not used for another one', async (t) => {
  const { server, network } = await tokenServer(t, ['token-1', 'token-2'])
  await smtpOf(network, connection(['token-1'])).send(message(), byToken)
  await smtpOf(network, connection(['token-1'])).send(message(), byToken)
  t.equal(server.connections(), 1)
  await smtpOf(network, connection(['token-2'])).send(message(), byToken)
  t.equal(server.connections(), 2)
})

await t.test('a provider without "connect" for its settings has no connection to sign in with', async (t) => {
  const { server, network } = await tokenServer(t, ['token-1'])
  has(t, await failed(smtpOf(network).send(message(), byToken)), { word: 'provider_unavailable', ours: true, message: /no "connect"/ })
  t.equal(server.connections(), 0)
})

await t.test('a check signs in, and sends nothing', async (t) => {
  const { server, smtp } = await begin(t)
  await smtp.verify(transport)
  t.equal(server.connections(), 1)
  t.equal(server.mails.length, 0)
  has(t, await failed(smtp.verify({ ...transport, password: 'wrong' })), { word: 'authentication_error', message: /535/ })
})

await t.test('a check fails where a sign-in is asked for and the server has none', async (t) => {
  const { server, smtp } = await begin(t, () => ({ authOptional: true, disabledCommands: ['AUTH'] }))
  has(t, await failed(smtp.verify(transport)), { word: 'authentication_error' })
  const { host } = transport
  await smtp.verify({ host })
  t.equal(server.connections(), 2)
})

await t.test('a server may take as long to greet as is declared, and no longer', async (t) => {
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: Date.now() })
  t.teardown(() => mock.timers.reset())
  const sessions = [Promise.withResolvers<() => void>(), Promise.withResolvers<() => void>()]
  let count = 0
  const { ca, route } = await abruptServer(t, 'nothing', [], () =>
    new Promise((resolve) => {
      sessions[count++]?.resolve(() => resolve(undefined))
    }))
  const network = networkOf(t, { ca: [ca], route })
  const tls = { host: 'mail.acme.test', security: 'tls' } as const
  const sent = smtpOf(network).send(message(), tls)
  const greet = await sessions[0]?.promise
  mock.timers.tick(14_000)
  greet?.()
  await sent
  const late = failed(smtpOf(network).verify(tls))
  await sessions[1]?.promise
  mock.timers.tick(15_000)
  has(t, await late, { word: 'provider_unavailable', message: /Greeting never received/ })
})

await t.test('a recipient that is refused beside an accepted one is told, and is no error', async (t) => {
  const { server, smtp } = await begin(t, () => ({
    onRcptTo ({ address }, _session, callback) {
      callback(address.startsWith('no') ? answer(550, '5.1.1 No such user') : null)
    }
  }))
  const receipt = await smtp.send(message({ to: ['ada@example.com', 'nobody@example.com'], cc: ['none@example.com'] }), transport)
  has(t, receipt, {
    accepted: ['ada@example.com'],
    rejected: [
      { address: 'nobody@example.com', code: 550, message: '"mail.acme.test" answered: 550 5.1.1 No such user' },
      { address: 'none@example.com', code: 550, message: '"mail.acme.test" answered: 550 5.1.1 No such user' }
    ]
  })
  has(t, server.mails, [{ to: ['ada@example.com'] }])
})

await t.test('this service tells its name', async (t) => {
  const names: string[] = []
  const server = await mailServer(t, () => ({
    onMailFrom (_address, { hostNameAppearsAs }, callback) {
      names.push(hostNameAppearsAs)
      callback()
    }
  }))
  await smtpOf(networkOf(t, { ca: [server.ca], route: server.route, mailName: 'dispatch.acme.test' })).send(message(), transport)
  t.same(names, ['dispatch.acme.test'])
})

await t.test('the Message-ID is in ASCII, whatever the domain of the sender, and its own where it is given', async (t) => {
  const { server, smtp } = await begin(t)
  has(t, await smtp.send(message({ from: 'Bücher <post@bücher.test>' }), transport), { messageId: /^<[0-9a-f-]{36}@xn--bcher-kva\.test>$/ })
  has(t, await smtp.send(message({ id: 'step-7' }), transport), { messageId: '<step-7@acme.test>' })
  has(t, server.mails.map(({ from, source }) => [from, /^Message-ID: (.*)\r$/m.exec(source)?.[1]]), [
    [
      'post@bücher.test',
      /^<[!-~]+@xn--bcher-kva\.test>$/
    ],
    ['billing@acme.test', '<step-7@acme.test>']
  ])
})

await t.test('addresses beyond ASCII go to a server that offers to take them, and to no other', async (t) => {
  const beyond = message({ from: 'Zoë <zoë@acme.test>', to: ['Ada <ada@example.com>', 'jürgen@bücher.example'] })
  const { server, smtp } = await begin(t)
  has(t, await smtp.send(beyond, transport), { accepted: ['ada@example.com', 'jürgen@bücher.example'] })
  await smtp.send(beyond, transport)
  t.equal(server.connections(), 2, 'it is asked once')
  const sent = { from: 'zoë@acme.test', to: ['ada@example.com', 'jürgen@bücher.example'] }
  has(t, server.mails, [sent, sent])
  const { server: other, smtp: unwilling } = await begin(t, () => ({ hideSMTPUTF8: true }))
  has(t, await failed(unwilling.send(beyond, transport)), {
    word: 'distant_service_error',
    code: 'smtputf8',
    message: '"mail.acme.test" accepts ASCII addresses only, not zoë@acme.test: it does not offer SMTPUTF8.'
  })
  t.same(other.mails, [])
  await unwilling.send(message({ to: ['ada@bücher.example'] }), transport)
  has(t, other.mails, [{ source: /^To: ada@xn--bcher-kva\.example\r$/m }], 'a domain is written in ASCII')
})

await t.test('a server that refuses and hangs up is understood: its words count', async (t) => {
  for (const at of ['MAIL', 'RCPT', 'DATA', '.']) {
    for (const extensions of [[], ['PIPELINING']]) {
      const { ca, route } = await abruptServer(t, at, extensions)
      const network = networkOf(t, { ca: [ca], route })
      has(t, await failed(smtpOf(network).send(message(), { ...transport, security: 'tls' })), {
        word: 'distant_service_error',
        code: '550',
        message: '"mail.acme.test" answered: 550 5.7.1 Go away'
      }, [at, ...extensions].join(' '))
    }
  }
})

await t.test('messages are signed where there is a key, with the headers that a click needs', async (t) => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const dkim = { domain: 'acme.test', selector: 'k1', privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) }
  const { server, smtp } = await begin(t)
  await smtp.send(
    message({
      html: '<p>Bonjour é</p>',
      attachments: [pdf],
      headers: { 'List-Unsubscribe': '<https://acme.test/u>', 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }
    }),
    { ...transport, dkim }
  )
  const source = server.mails[0]?.source ?? ''
  const { tags, valid } = signatureIn(source, publicKey)
  has(t, tags, { d: 'acme.test', s: 'k1', a: 'rsa-sha256', h: /from:.*subject:.*list-unsubscribe:list-unsubscribe-post/ })
  t.equal(valid(source), true)
  t.equal(valid(source.replace('Subject: Your', 'Subject: My')), false)
  t.equal(valid(source.replace('Bonjour', 'Bonsoir')), false)
})

await t.test('cuts', async (t) => {
  const before: [string, (cut: () => void) => SMTPServerOptions][] = [
    ['at the greeting', (cut) => ({ onConnect: cut })],
    ['at the login', (cut) => ({ onAuth: cut })],
    ['at the sender', (cut) => ({ onMailFrom: cut })],
    ['at the recipient', (cut) => ({ onRcptTo: cut })]
  ]
  for (const [when, options] of before) {
    await t.test(`${when}: nothing was accepted`, async (t) => {
      const { smtp } = await begin(t, options)
      has(t, await failed(smtp.send(message(), transport)), { word: 'provider_unavailable' })
    })
  }

  await t.test('in the middle of the message: nothing was accepted, a message ends with its dot', async (t) => {
    const { smtp } = await begin(t, (cut) => ({
      onData (stream) {
        stream.once('data', cut)
      }
    }), {
      documents: {
        read: () =>
          Promise.resolve(Readable.from((function* () {
            for (let piece = 0; piece < 64; piece++) yield Buffer.alloc(1024 * 1024)
          })()))
      }
    })
    has(t, await failed(smtp.send(message({ attachments: [{ ...pdf, size: 64 * 1024 * 1024 }] }), transport)), {
      word: 'provider_unavailable'
    })
  })

  await t.test('in the middle of a signed message: nothing was accepted', async (t) => {
    const dkim = {
      domain: 'acme.test',
      selector: 'k1',
      privateKey: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' })
    }
    const { smtp } = await begin(t, (cut) => ({
      onData (stream) {
        stream.once('data', cut)
      }
    }), {
      documents: {
        read: () =>
          Promise.resolve(Readable.from((function* () {
            for (let piece = 0; piece < 8; piece++) yield Buffer.alloc(1024 * 1024)
          })()))
      }
    })
    has(t, await failed(smtp.send(message({ attachments: [{ ...pdf, size: 8 * 1024 * 1024 }] }), { ...transport, dkim })), {
      word: 'provider_unavailable'
    })
  })

  await t.test('after the message: it may have been accepted', async (t) => {
    const progress = createProgress({ passed: true })
    const { smtp } = await begin(t, (cut) => ({
      onData (stream) {
        stream.resume().once('end', cut)
      }
    }), { progress })
    has(t, await failed(smtp.send(message(), transport)), { word: 'outcome_unknown' })
    has(t, progress.uncertain, { word: 'outcome_unknown' })
  })

  await t.test('after the message, of which one recipient was refused: the others may have it', async (t) => {
    const { smtp } = await begin(t, (cut) => ({
      onRcptTo ({ address }, _session, callback) {
        callback(address.startsWith('no') ? answer(550, '5.1.1 No such user') : null)
      },
      onData (stream) {
        stream.resume().once('end', cut)
      }
    }))
    has(t, await failed(smtp.send(message({ to: ['ada@example.com', 'nobody@example.com'] }), transport)), { word: 'outcome_unknown' })
  })

  await t.test('of a kept connection: the next message goes out on a fresh one', async (t) => {
    const { server, network, smtp } = await begin(t)
    await smtp.send(message(), transport)
    server.cut()
    await smtpOf(network).send(message(), transport)
    t.equal(server.mails.length, 2)
  })
})

const sessionEnds: [how: string, end: (cut: () => void, answered: (error: Error) => void) => void][] = [
  ['with 421', (_cut, answered) => answered(answer(421, '4.4.1 Session has lasted for too long'))],
  ['without a word', (cut) => cut()]
]
for (const [how, end] of sessionEnds) {
  await t.test(`a server that ends a session after one message, ${how}, gets each message, whole and once`, async (t) => {
    const used = new Set<string>()
    const { server, smtp } = await begin(t, (cut) => ({
      onMailFrom (_address, { id }, callback) {
        if (used.has(id)) end(cut, callback)
        else callback()
        used.add(id)
      }
    }))
    const sources: (string | undefined)[] = []
    for (let mails = 0; mails < 4; mails++) {
      await smtp.send(message({ id: 'step-1', date: '2026-03-14T09:30:00Z', attachments: [pdf] }), transport)
      sources.push(server.mails.at(-1)?.source)
    }
    t.equal(server.mails.length, 4)
    t.equal(new Set(sources).size, 1, 'a message that is composed again is the same')
    contains(t, sources[0] ?? '', Buffer.from('%PDF-2.0').toString('base64'))
  })
}

await t.test('a server that ends fresh sessions too is asked twice, and is unavailable', async (t) => {
  const { server, smtp } = await begin(t, () => ({ onMailFrom: refuse(421, 'Overloaded') }))
  has(t, await failed(smtp.send(message(), transport)), { word: 'provider_unavailable', code: '421' })
  t.equal(server.connections(), 2)
})

await t.test('a session that ends once the message has begun is not tried on another one', async (t) => {
  const { server, smtp } = await begin(t, (cut) => ({
    onData (stream) {
      stream.resume().once('end', cut)
    }
  }))
  has(t, await failed(smtp.send(message(), transport)), { word: 'outcome_unknown' })
  t.equal(server.connections(), 1)
})

await t.test('a call that is given up while the server decides leaves a doubt', async (t) => {
  const progress = createProgress({ passed: true })
  const call = new AbortController()
  const { smtp } = await begin(t, () => ({
    onData (stream) {
      stream.resume().once('end', () => call.abort())
    }
  }), { progress, ended: call.signal })
  has(t, await failed(smtp.send(message(), transport)), { word: 'outcome_unknown' })
})

await t.test('the end of a message, with which it is taken, is not told for a caller that has lost what it sends for', async (t) => {
  const lost = { word: 'provider_unavailable', ours: true, message: /was suspended for too long/ }
  for (const requested of [0, 1, 2]) {
    let times = 0
    const { server, network } = await begin(t)
    has(t, await failed(smtpOf(network, { holds: () => times++ < requested }).send(message({ attachments: [pdf] }), transport)), lost,
      `lost after ${requested} times`)
    t.strictSame(server.mails, [])
    await smtpOf(network).send(message(), transport)
    t.equal(server.mails.length, 1, 'the next one goes out')
  }
})

await t.test('an attachment that cannot be read, or is not as long as it says, sends nothing', async (t) => {
  for (const read of [() => Promise.reject(new Error('gone')), () => Promise.resolve(Readable.from([Buffer.from('%P')]))]) {
    const { server, smtp } = await begin(t, undefined, { documents: { read } })
    has(t, await failed(smtp.send(message({ attachments: [pdf] }), transport)), { word: 'provider_unavailable' })
    t.strictSame(server.mails, [])
  }
})

await t.test('nobody is connected to', async (t) => {
  await t.test('whose certificate is not trusted, or of another name', async (t) => {
    const server = await mailServer(t)
    const { ca } = await createAuthority()
    has(t, await failed(smtpOf(networkOf(t, { ca: [ca], route: server.route })).send(message(), transport)), {
      word: 'provider_unavailable',
      message: /certificate/
    })
    const other = { ...transport, host: 'other.acme.test' }
    has(t, await failed(
      smtpOf(networkOf(t, { ca: [server.ca], route: server.route }), {
        targets: { provider: 'mail', declared: [], chosen: [other.host] }
      }).send(message(), other)
    ), { word: 'provider_unavailable', message: /other\.acme\.test/ })
    t.strictSame(server.mails, [])
  })

  await t.test('who offers no TLS: the password does not leave in the clear', async (t) => {
    const { server, smtp } = await begin(t, () => ({ hideSTARTTLS: true, disabledCommands: ['STARTTLS'] }))
    has(t, await failed(smtp.send(message(), transport)), { word: 'provider_unavailable', message: /"mail\.acme\.test" offers no TLS/ })
    has(t, await failed(smtp.send(message(), { ...transport, security: 'tls' })), {
      word: 'provider_unavailable',
      message: /^"mail\.acme\.test" does not begin with TLS at this port: "tls" is for port 465 as a rule, "starttls" for port 587\.$/
    })
    t.strictSame(server.mails, [])
  })

  await t.test('who refuses the connection, hangs up or talks nonsense', async (t) => {
    for (const greet of [
      undefined,
      (socket: Socket) => socket.destroy(),
      (socket: Socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')
    ]) {
      const strange = createServer(greet).listen(0, '127.0.0.1')
      await once(strange, 'listening')
      const { port } = strange.address() as AddressInfo
      if (greet === undefined) strange.close()
      else t.teardown(() => strange.close())
      has(t, await failed(smtpOf(networkOf(t, { route: () => ({ host: '127.0.0.1', port }) })).send(message(), transport)), {
        word: 'provider_unavailable'
      })
    }
  })

  await t.test('who has no public address', async (t) => {
    const hosts = ['127.0.0.1', '::1', '2130706433', '0x7f.1', '169.254.169.254']
    const network = createNetwork({ resolve: () => Promise.resolve(['93.184.215.14', '10.0.0.1']) })
    t.teardown(() => network.close())
    const smtp = smtpOf(network, {
      targets: { provider: 'mail', declared: [], chosen: ['127.0.0.1', '[::1]', 'mail.acme.test', '169.254.169.254'] }
    })
    for (const host of hosts) {
      has(t, await failed(smtp.send(message(), { ...transport, host })), {
        word: 'provider_unavailable',
        message: /may not be called: its address is not public/,
        ours: true
      }, host)
    }
    const inside = await failed(smtp.send(message(), { ...transport, host: 'mail.acme.test' }))
    const unknown = smtpOf(networkOf(t, { resolve: () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' })) }))
    t.strictSame(await failed(unknown.send(message(), { ...transport, host: 'mail.acme.test' })), inside,
      'a name inside is not told from one that there is not')
    const server = await mailServer(t)
    const real = createNetwork({ ca: [server.ca] })
    t.teardown(() => real.close())
    const localhost = smtpOf(real, { targets: { provider: 'mail', declared: [], chosen: ['localhost'] } }).send(message(), {
      ...transport,
      host: 'localhost',
      port: server.port
    })
    has(t, await failed(localhost), { word: 'provider_unavailable', message: /^"localhost" cannot be found, or has no permitted address/ },
      'a name that the system\'s resolver knows')
    t.equal(server.connections(), 0)
  })

  await t.test('whom the configuration does not name, or who is no host', async (t) => {
    const { server, smtp } = await begin(t)
    for (const host of ['evil.test', 'mail.acme.test/x', 'user@mail.acme.test', '']) {
      has(t, await failed(smtp.send(message(), { ...transport, host })), { word: 'provider_unavailable', ours: true }, host)
    }
    t.equal(server.connections(), 0)
  })

  await t.test('once the call has ended', async (t) => {
    const { server, smtp } = await begin(t, undefined, { ended: AbortSignal.abort() })
    has(t, await failed(smtp.send(message(), transport)), { word: 'provider_unavailable', ours: true })
    t.equal(server.connections(), 0)
  })
})

const injections: [string, Partial<SmtpMessage>][] = [
  ['a subject', { subject: 'Hello\r\nBcc: evil@example.com' }],
  ['a recipient', { to: ['ada@example.com\r\nRCPT TO:<evil@example.com>'] }],
  ['a sender', { from: 'billing@acme.test\nX: 1' }],
  ['a reply address', { replyTo: 'a@b.test\r\nX: 1' }],
  ['a header', { headers: { 'X-A': 'b\r\n\r\nbody' } }],
  ['a header\'s name', { headers: { 'X-A: b\r\nX-B': 'c' } }],
  ['two recipients in one', { to: ['ada@example.com, evil@example.com'] }],
  ['one recipient twice', { to: ['A <ada@example.com>, B <ada@example.com>'] }],
  ['a group', { cc: ['friends: ada@example.com, evil@example.com;'] }],
  ['a path', { to: ['<@relay.test:evil@example.com>'] }],
  ['no address', { to: ['Ada'] }]
]

for (const [what, more] of injections) {
  await t.test(`refused before anything is sent: ${what}`, async (t) => {
    const { server, smtp } = await begin(t)
    has(t, await failed(smtp.send(message(more), transport)), { word: 'provider_error', code: /^(header|address)$/ })
    t.equal(server.connections(), 0)
  })
}

await t.test('the log has where and how long, and nothing that was said', async (t) => {
  const log = memoryLog()
  const { smtp } = await begin(t, undefined, { log })
  await smtp.send(message({ subject: 'canary', text: 'canary', to: ['canary@example.com'] }), transport)
  has(t, log.lines, [{ level: 'debug', message: 'mail server called', facts: { host: 'mail.acme.test', ms: Number } }])
  lacks(t, JSON.stringify(log.lines), /canary|password/)
})
