import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import t, { type Test } from 'tap'
import { contains, has, lacks } from '../../../../test/support/matching.ts'
import { type Authority, createAuthority } from '../../conformance/vendor/certificates.ts'
import { signed, verified } from '../callbacks.ts'
import { commandIn } from './command.ts'
import { clientFor, cut, errorOfCall, html, json, refusal, serve, type Turn, type Turns } from './server.ts'

const folder = mkdtempSync(join(tmpdir(), 'dispatch-bad-input-'))
t.teardown(() => rmSync(folder, { recursive: true }))
const dispatch = commandIn(folder)

type Case = {
  turns: readonly Turn[]
  /** Behind the address of the server. */
  path?: string
  error: string
  /** What the client says, and what the command says. */
  says: RegExp
  tells?: RegExp
  code: number
  /** How many requests each of them sends; more than one have the same key. */
  sent?: number
}

const cases: Readonly<Record<string, Case>> = {
  'an address at which something else answers': {
    turns: [html(404)],
    error: 'wrong_address',
    says: /answered 404 with text\/html, which Document Dispatch does not: check "baseUrl", and the proxies on the way\.$/,
    tells: /: check --url, and the proxies on the way\.\n$/,
    code: 1
  },
  'an address that leads elsewhere': {
    turns: [html(302, { location: 'https://login.acme.test/' })],
    error: 'wrong_address',
    says: /leads elsewhere, to https:\/\/login\.acme\.test\/: give the address of the service itself as "baseUrl"\.$/,
    tells: /give the address of the service itself as --url\.\n$/,
    code: 1
  },
  'an address with a path too much': {
    turns: [refusal(404, 'not_found')],
    path: '/api',
    error: 'not_found',
    says: /"baseUrl" has the path "\/api": leave it out, unless the service is there\.$/,
    tells: /--url has the path "\/api": leave it out/,
    code: 1
  },
  'an address with a path too much, which a chain could have': {
    turns: [refusal(404, 'unknown_service')],
    path: '/api',
    error: 'unknown_service',
    says: /"baseUrl" has the path "\/api": leave it out, unless the service is there\.$/,
    code: 1
  },
  'an expired key': {
    turns: [refusal(401, 'unauthorized')],
    error: 'unauthorized',
    says: /The key may have ended or been revoked: make another one at http:.*\/console, or with POST \/api\/v1\/keys\.$/,
    tells: /make another one at .*\n"dispatch login" stores a key\.\nThe request: r-1\n$/,
    code: 5
  },
  'a proxy with a page of its own in the place of the answer': {
    turns: [html(200)],
    error: 'unreadable_answer',
    says: /answered 200 with text\/html.* and the proxies on the way\. .* may be repeated under its idempotency key/,
    tells: /\nRepeat it only with --key [-\w]+: so it is sent once\.\n$/,
    code: 3
  },
  'a proxy with a page while its service is away': {
    turns: [html(502)],
    error: 'unreadable_answer',
    says: /answered 502 with text\/html.* may be repeated under its idempotency key, [-\w]+, and only under it\.$/,
    code: 3,
    sent: 4
  },
  'an answer that is cut': {
    turns: [cut],
    error: 'connection_lost',
    says: /ended before the whole answer was there .* may be repeated under its idempotency key, [-\w]+, and only under it\.$/,
    code: 3,
    sent: 4
  },
  'a newer service, which does not speak the version of the client any more': {
    turns: [refusal(400, 'unsupported_version', {}, { 'x-api-version': '2.0.0' })],
    error: 'unsupported_version',
    says: /This version of @dispatch\/client speaks 1\.1\.0: update the package\.$/,
    code: 1
  },
  'an older service, which does not speak it yet': {
    turns: [refusal(400, 'unsupported_version', {}, { 'x-api-version': '1.0.1' })],
    error: 'unsupported_version',
    says: /speaks 1\.1\.0: upgrade the service, or install an older client\.$/,
    code: 1
  },
  'a newer service with an error of its own': {
    turns: [refusal(418, 'brand_new')],
    error: 'unknown_error',
    says:
      /It is brand_new\. \(The service calls this "brand_new", which this version of @dispatch\/client does not know: update the package\.\)$/,
    code: 3
  }
}

for (const [name, { turns, path = '', error: word, says, tells, code, sent = 1 }] of Object.entries(cases)) {
  await t.test(`${name}: client and command say it in a sentence, and send nothing twice`, async (t) => {
    const server = await serve(t, ...turns)
    const error = await errorOfCall(clientFor(`${server.url}${path}`).things.send({}))
    t.equal(error.error, word)
    contains(t, error.message, says)
    lacks(t, error.message, '\n')
    sentOnce(t, server, sent)
    const other = await serve(t, ...turns)
    const env = { DISPATCH_URL: `${other.url}${path}`, DISPATCH_KEY: 'dk_test_1' }
    const reported = await dispatch(['send', 'sms'], {}, env)
    has(t, reported, { code, output: '' })
    contains(t, reported.errors, tells ?? new RegExp(says.source.replaceAll('"baseUrl"', '--url').replace(/\$$/, '')))
    sentOnce(t, other, sent)
    const { errors } = await dispatch(['send', 'sms', '--json'], {}, env)
    has(t, JSON.parse(errors), { error: word, outcomeUnknown: code === 3, surelyNotSent: code !== 3 })
  })
}

/** Whether a server has got a request so often, each time under the same key. */
function sentOnce (t: Test, { seen }: Turns, sent: number): void {
  t.equal(seen.length, sent)
  t.equal(new Set(seen.map(({ key }) => key)).size, 1)
  t.ok(seen[0]?.key)
}

await t.test('what is no address of a service is refused before anything is sent', async (t) => {
  for (const url of ['dispatch.acme.test', 'localhost:3000', 'ftp://dispatch.acme.test']) {
    t.throws(() => clientFor(url), { message: /^"baseUrl" is an address such as https:/ }, url)
    has(t, await dispatch(['list', '--url', url], '', { DISPATCH_KEY: 'dk_test_1' }), {
      code: 2,
      errors: `The address of a service begins with https:// or http://, unlike "${url}".\n`
    })
  }
})

const hour = 3_600_000
for (const [name, from, until, says] of [['behind', hour, 48 * hour, 'not yet'], ['ahead', -48 * hour, -hour, 'no longer']] as const) {
  await t.test(`a clock that is an hour ${name}, where a certificate says it`, async (t) => {
    const authority = await createAuthority()
    const known = getCACertificates('default')
    setDefaultCACertificates([...known, authority.ca])
    t.teardown(() => setDefaultCACertificates(known))
    const { url, connections } = await secureServer(t, authority, new Date(Date.now() + from), new Date(Date.now() + until))
    const error = await errorOfCall(clientFor(url).things.send({}))
    has(t, error, { error: 'unreachable', surelyNotSent: true })
    const sentence = new RegExp(
      `is ${says} valid by the clock of this machine, which says 20.*Z: set it, or tell who runs the service\\. ` +
        'Nothing was sent\\.'
    )
    contains(t, error.message, sentence)
    t.equal(connections(), 1, 'it would not help to try again')
    const reported = await dispatch(['send', 'sms'], {}, { DISPATCH_URL: url, DISPATCH_KEY: 'dk_test_1' })
    t.equal(reported.code, 4)
    contains(t, reported.errors, sentence)
  })
}

/** A server whose certificate is valid between two times. */
async function secureServer (t: Test, authority: Authority, from: Date, until: Date) {
  let connections = 0
  const server = createServer(await authority.issueBetween(from, until, '127.0.0.1'), () => t.fail('Nothing may be sent.'))
  server.on('connection', () => connections++)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, connections: () => connections }
}

await t.test('a clock that is an hour off, where a callback says it; and a callback of a type that is not known', async (t) => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const { headers, body } = await signed({ type: 'sms.sung', timestamp: '', sequence: 1, data: {} }, secret, {})
  for (const [off, says] of [[hour, '3600 s ago'], [-hour, '3600 s ahead of this clock']] as const) {
    await t.rejects(verified(headers, body, secret, [], { now: () => Math.floor(Date.now() / 1_000) * 1_000 + off }), {
      fault: 'too_old',
      message: new RegExp(`signed 3\\d{3} s ${says.replace(/^\d+ s /, '')}, and 300 s are allowed: set the clock of this machine`)
    })
  }
  has(t, await verified(headers, body, secret, ['sms.sent'], {}), {
    type: 'unknown',
    unknownType: 'sms.sung',
    message: /does not know callbacks of the type "sms\.sung": answer 200 to leave it, or update the package\.$/
  })
})

await t.test('the command shows and passes on an event of a type that it does not know, once', async (t) => {
  const event = { type: 'sms.sung', timestamp: '2026-11-28T00:00:00.000Z', sequence: 1, data: { dispatchId: 'd-1' } }
  const server = await serve(t, (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`id: 1\nevent: event\ndata: ${JSON.stringify(event)}\n\n`)
  })
  const receiver = await serve(t, json(200, {}))
  const env = { DISPATCH_URL: server.url, DISPATCH_KEY: 'dk_test_1' }
  const reported = await dispatch(['listen', '--limit', '1', '--forward', `${receiver.url}/`], '', env)
  has(t, reported, { code: 0, output: /^\S+ sms\.sung d-1 → 200\n$/ })
  t.equal(receiver.seen.length, 1)
})

await t.test('wrong files, words, options and profiles are wrong usage', async (t) => {
  const env = { DISPATCH_URL: 'http://127.0.0.1:3000', DISPATCH_KEY: 'dk_test_1' }
  const file = join(folder, 'request.json')
  writeFileSync(file, '{')
  const wrong: Readonly<Record<string, string | RegExp>> = {
    'send sms nowhere.json': '"nowhere.json" does not exist.\n',
    'batch sms nowhere.csv': '"nowhere.csv" does not exist.\n',
    [`send sms ${folder}`]: / is a folder\.\n$/,
    [`send sms ${file}`]: /request\.json is not JSON: /,
    [`templates push ${file}`]: /request\.json is not JSON: /,
    [`templates pull ${file}`]: /request\.json" is a file, and a folder is needed\.\n$/,
    'send sms one.json two.json': '"dispatch send" has nothing to do with "two.json": "dispatch --help" says what it takes.\n',
    'list --colour': 'Unknown option \'--colour\'. "dispatch --help" has all options.\n'
  }
  for (const [words, errors] of Object.entries(wrong)) has(t, await dispatch(words.split(' '), '', env), { code: 2, errors }, words)
  has(t, await dispatch(['list', '--profile', 'acme']), {
    code: 2,
    errors: 'There is no profile "acme": "dispatch login --profile acme --url <address>" makes it.\n'
  })
  has(t, await dispatch(['--version']), { code: 0, output: '1.1.0\n' })
})
