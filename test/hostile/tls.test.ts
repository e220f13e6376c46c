import { execFile } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { delimiter, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import t from 'tap'
import { readCertificatePair, secureOptions, watchCertificatePair } from '../../plugins/server/tls.ts'
import { transportLimits } from '../../plugins/server/transport-limits.ts'
import { contains, has, lacks } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { certificateFiles, fetchSecurely, handshake } from '../support/secure.ts'
import { admin, invoiceRequest, startService } from '../support/service.ts'
import { hasNoFault } from './support.ts'

const { authority, config, write } = await certificateFiles(t)
const service = await startService(t, {
  config,
  replacements: { renderer: quickRenderer, transportLimits: { ...transportLimits, handshake: 200, checkInterval: 50, renewal: 50 } }
})
const port = Number(new URL(service.url).port)
const { ca } = authority
const authorization = { authorization: `Basic ${Buffer.from(`${admin.email}:${admin.password}`).toString('base64')}` }

await t.test('the service speaks HTTPS itself, and tells browsers to stay with it', async (t) => {
  contains(t, service.url, /^https:/)
  const answer = await fetchSecurely(`${service.url}/healthz`, ca, { headers: authorization })
  t.equal(answer.status, 200)
  t.equal(JSON.parse(answer.body).status, 'ok')
  t.equal(answer.headers.get('strict-transport-security'), 'max-age=31536000')
  const dispatched = await fetchSecurely(`${service.url}/api/invoicing`, ca, {
    method: 'POST',
    headers: { ...authorization, 'content-type': 'application/json' },
    body: JSON.stringify(invoiceRequest())
  })
  has(t, JSON.parse(dispatched.body), { success: true })
})

await t.test('only TLS 1.2 and 1.3 are spoken, with sound ciphers', async (t) => {
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const socket = await handshake(port, { ca, minVersion: version, maxVersion: version })
    if (typeof socket === 'string') {
      t.fail(`${version}: ${socket}`)
      continue
    }
    t.equal(socket.getProtocol(), version)
    contains(t, socket.getCipher().standardName, /^TLS_(ECDHE_.*)?(AES_\d+_GCM|CHACHA20_POLY1305)/)
    socket.destroy()
  }
  for (const version of ['TLSv1', 'TLSv1.1'] as const) {
    contains(t, await handshake(port, { ca, minVersion: version, maxVersion: version, ciphers: 'ALL:@SECLEVEL=0' }), /ERR_SSL|ECONNRESET/,
      version)
  }
  for (const ciphers of ['AES128-SHA', 'AES256-SHA256', 'ECDHE-ECDSA-AES128-SHA', 'ECDHE-ECDSA-AES256-SHA384', 'AES128-GCM-SHA256', 'NULL',
    'aNULL', 'PSK', 'CAMELLIA'])
  {
    contains(t, await handshake(port, { ca, maxVersion: 'TLSv1.2', ciphers: `${ciphers}:@SECLEVEL=0` }), /ERR_SSL|ECONNRESET/, ciphers)
  }
})

await t.test('what is offered has forward secrecy and nothing of before TLS 1.2, whatever the certificate and ' +
  'the library would allow', (t) => {
  const { minVersion, ciphers = '' } = secureOptions({ cert: '', key: '' })
  t.equal(minVersion, 'TLSv1.2')
  for (const cipher of ciphers.split(':')) contains(t, cipher, /^(TLS_|ECDHE-).*(GCM|POLY1305)/)
  t.end()
})

await t.test('a client cannot have the session negotiated again and again', async (t) => {
  const socket = await handshake(port, { ca, maxVersion: 'TLSv1.2' })
  if (typeof socket === 'string') return t.fail(socket)
  const refused = once(socket, 'error').then(() => 'refused', () => 'refused')
  const answered = new Promise<string>((resolve) => {
    socket.renegotiate({}, (error) => {
      resolve(error === null ? 'renegotiated' : 'refused')
    })
  })
  t.equal(await Promise.race([refused, answered, once(socket, 'close').then(() => 'refused')]), 'refused')
  socket.destroy()
})

await t.test('plain HTTP on the same port, and half a handshake, come to nothing', async (t) => {
  for (const sent of ['GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n', '', Buffer.from('16030100c8010000c40303', 'hex')]) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined)
    let received = ''
    socket.on('data', (bytes: Buffer) => {
      received += bytes.toString('latin1')
    })
    if (sent !== '') socket.write(sent)
    await once(socket, 'close')
    lacks(t, received, /HTTP|ok/)
  }
})

await t.test('a renewed certificate is used for the next connection, without a restart and without a word ' +
  'to those that are open', async (t) => {
  const pair = await readCertificatePair(config.tls!)
  const used: string[] = []
  const told: unknown[] = []
  const log = { info: (_: object, message: string) => told.push(message), warn: ({ err }: { err?: Error }) => told.push(err?.message) }
  let time = new Date()
  const renewal = watchCertificatePair({
    files: config.tls!,
    current: pair,
    use: ({ cert }) => {
      used.push(cert)
    },
    log,
    now: () => time,
    every: 20
  })
  t.teardown(renewal.stop)
  await renewal.check()
  t.same([used, told], [[], []], 'the same files are no renewal')

  const next = await authority.issue('127.0.0.1')
  write({ cert: next.cert })
  await renewal.check()
  await renewal.check()
  t.same(used, [], 'a certificate whose key is not there yet')
  has(t, told, [/cannot be used together \(key values mismatch\)/], 'is told once')
  write({ key: next.key })
  while (used.length === 0) await pause(10)
  t.same([used, told.at(-1)], [[next.cert], 'the certificate was renewed'], 'nobody had to ask')

  for (const [broken, sentence] of [
    [{ cert: 'half a certi' }, /cannot be used together/],
    [{ cert: next.cert, key: '' }, /cannot be used together/],
    [
      {
        key: generateKeyPairSync('ec', {
          namedCurve: 'P-256',
          privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'geheim' },
          publicKeyEncoding: { type: 'spki', format: 'pem' }
        }).privateKey
      },
      /without a passphrase/
    ]
  ] as const) {
    write(broken)
    await renewal.check()
    contains(t, told.at(-1), sentence)
  }
  time = new Date(Date.now() + 20 * 365 * 24 * 3600 * 1000)
  write(await authority.issue('127.0.0.1'))
  await renewal.check()
  contains(t, told.at(-1), /has expired/)
  t.equal(used.length, 1, 'the one before stays in use')
})

await t.test('the service itself takes what was renewed', async (t) => {
  const before = (await fetchSecurely(`${service.url}/livez`, ca)).serial
  const open = await handshake(port, { ca })
  const next = await authority.issue('127.0.0.1')
  write(next)
  while ((await fetchSecurely(`${service.url}/livez`, ca)).serial === before) await pause(50)
  t.pass('the next connection has the new certificate')
  if (typeof open === 'string') return t.fail(open)
  open.write('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n')
  const [answer] = await once(open, 'data') as [Buffer]
  contains(t, answer.toString(), /^HTTP\/1\.1 204/, 'the open one goes on')
  open.destroy()
})

await t.test('a server that has closed watches its certificate no more', async (t) => {
  let log: readonly string[] = []
  await t.test('it is there', async (t) => {
    const renewing = await startService(t, {
      config,
      replacements: { renderer: quickRenderer, transportLimits: { ...transportLimits, renewal: 20 } }
    })
    log = renewing.log
    write(await authority.issue('127.0.0.1'))
    while (!renewing.log.join('').includes('the certificate was renewed')) await pause(20)
  })
  const renewals = (): number => log.filter((line) => line.includes('the certificate was renewed')).length
  const before = renewals()
  write(await authority.issue('127.0.0.1'))
  await pause(200)
  t.equal(renewals(), before)
})

await t.test('a pair that cannot be used is refused in one sentence', async (t) => {
  const { cert, key } = config.tls!
  await t.rejects(readCertificatePair({ cert: `${cert}x`, key }), {
    name: 'CertificateError',
    message: `${cert}x cannot be read (ENOENT).`
  })
  await t.rejects(readCertificatePair({ cert: key, key: cert }), {
    name: 'CertificateError',
    message: /cannot be used together \(.*\): they must be a pair in PEM/
  })
})

const sslscan = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'sslscan')).find((path) => existsSync(path))

await t.test('sslscan finds no old protocol and no weak cipher', { skip: sslscan === undefined ? 'sslscan is not installed' : false },
  async (t) => {
    const { stdout } = await promisify(execFile)(sslscan!, ['--no-colour', '--no-failed', '--xml=-', `127.0.0.1:${port}`], {
      maxBuffer: 1024 * 1024
    })
    const enabled = [...stdout.matchAll(/<protocol type="(\w+)" version="([\d.]+)" enabled="1"/g)].map(([, type, version]) =>
      `${type} ${version}`
    )
    t.same(enabled.sort(), ['tls 1.2', 'tls 1.3'])
    const ciphers = [...stdout.matchAll(/<cipher .*?sslversion="([^"]+)".*?cipher="([^"]+)".*?strength="([^"]+)"/g)]
    t.ok(ciphers.length >= 5, 'it has seen ciphers')
    for (const [, version, cipher, strength] of ciphers) {
      contains(t, version, /^TLSv1\.[23]$/)
      contains(t, cipher, /^(TLS_|ECDHE-).*(GCM|POLY1305)/)
      contains(t, strength, /^(strong|acceptable)$/)
    }
    contains(t, stdout, /<renegotiation supported="0"|<renegotiation supported="1" secure="1"/)
    lacks(t, stdout, /<compression supported="1"/)
    lacks(t, stdout, /<heartbleed [^>]*vulnerable="1"/)
  })

await t.test('none of it was a fault of the service', (t) => {
  hasNoFault(t, service)
  t.end()
})
