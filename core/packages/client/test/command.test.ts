import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { contains, has, lacks } from '../../../../test/support/matching.ts'
import { quickRenderer } from '../../../../test/support/quick-renderer.ts'
import { startService } from '../../../../test/support/service.ts'
import { verified } from '../callbacks.ts'
import { openBar } from '../command/bar.ts'
import { typesOf } from '../command/types.ts'
import { commandIn } from './command.ts'
import { html, json, refusal, serve, type Turn } from './server.ts'

const service = await startService(t, { replacements: { renderer: quickRenderer } })
const folder = mkdtempSync(join(tmpdir(), 'dispatch-command-'))
t.teardown(() => rmSync(folder, { recursive: true }))
const { body: { key } } = await service.send('POST', '/api/v1/keys', {
  body: { name: 'Command', mode: 'live', scopes: ['send', 'read_own', 'templates'] }
})

/** As a company has one for its callbacks. */
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

const dispatch = commandIn(folder)

const message = (phoneNumber = '+33612345678'): object => ({ sms: { phoneNumber, message: 'Hello' } })

await t.test('without a service or a key it says how to name one', async (t) => {
  has(t, await dispatch(['list']), { code: 2, errors: /Where is the service\? Say it with --url, DISPATCH_URL/ })
  has(t, await dispatch(['list', '--url', service.url]), { code: 2, errors: /Who asks\? "dispatch login" stores a key/ })
})

await t.test('login stores a key that the service knows, where only its owner can read it', async (t) => {
  const wrong = await dispatch(['login', '--url', service.url], 'dk_live_wrong\n')
  t.equal(wrong.code, 5)
  t.strictSame(readdirSync(folder), [], 'nothing is stored')
  has(t, await dispatch(['login', '--url', service.url], '\n'), { code: 2, errors: /No key was given/ })
  const { code, output } = await dispatch(['login', '--url', service.url], `${key}\n`)
  t.equal(code, 0)
  lacks(t, output, key)
  const file = join(folder, 'dispatch/profiles.json')
  t.strictSame(JSON.parse(readFileSync(file, 'utf8')), { default: { url: service.url, key } })
  t.equal(statSync(file).mode & 0o777, 0o600)
  await dispatch(['login', '--url', service.url], `${key}\n`, { DISPATCH_CALLBACK_SECRET: secret })
  t.strictSame(JSON.parse(readFileSync(file, 'utf8')), { default: { url: service.url, key } }, 'nothing of the environment')
})

await t.test('a key is known whatever it may be used for; one that is granted is stored before anything is asked with it', async (t) => {
  const body = { name: 'Reader', mode: 'live', scopes: ['read_own'] }
  const { body: { key: reader } } = await service.send('POST', '/api/v1/keys', { body })
  t.equal((await dispatch(['login', '--url', service.url, '--profile', 'reader'], `${reader}\n`)).code, 0)
  const server = await serve(t, json(200, { device_code: 'd', user_code: 'WDJB-MJHT', verification_uri: 'http://x/', interval: 5 }),
    json(200, { access_token: 'dk_live_granted' }), refusal(500, 'internal_error'))
  t.equal((await dispatch(['login', '--url', server.url, '--profile', 'granted', '--device'])).code, 0)
  has(t, JSON.parse(readFileSync(join(folder, 'dispatch/profiles.json'), 'utf8')), {
    reader: { key: reader },
    granted: { url: server.url, key: 'dk_live_granted' }
  })
})

await t.test('a request is validated, sent, listed, shown, followed; what is refused says where and how', async (t) => {
  has(t, await dispatch(['validate', 'sms'], message()), { code: 0, output: 'success\n' })
  const sent = await dispatch(['send', 'sms'], message())
  has(t, sent, { code: 0, output: /^[-\w]{36} succeeded\n$/ })
  const [id = ''] = sent.output.split(' ')
  contains(t, (await dispatch(['list', '--status', 'succeeded'])).output, id)
  has(t, await dispatch(['show', id]), { code: 0, output: /succeeded .* sms \+33612345678\n {2}sms accepted simulator\n$/ })
  has(t, JSON.parse((await dispatch(['show', id, '--json'])).output), { dispatchId: id, status: 'succeeded' })
  const file = join(folder, 'message.json')
  writeFileSync(file, JSON.stringify(message()))
  const queued = await dispatch(['send', 'sms', file, '--async', '--key', 'once'])
  has(t, queued, { code: 0, output: /queued\n$/ })
  const [later = ''] = queued.output.split(' ')
  has(t, await dispatch(['tail', later]), { code: 0, output: /succeeded [^\n]*\n$/ })
  contains(t, (await dispatch(['send', 'sms', file, '--key', 'once'])).output, later, 'the same key sends nothing else')
  has(t, await dispatch(['retry', id]), { code: 1, errors: /only one that failed.*\nThe dispatch: .*\nThe request: / })
  has(t, await dispatch(['send', 'sms'], { ...message('+33612'), foo: 1 }), {
    code: 1,
    errors: /^\/foo: Unknown field[^\n]*\n {2}\/sms\/phoneNumber: Expected[^\n]*\nThe request: /
  })
  has(t, await dispatch(['send', 'sms'], '{'), { code: 2, errors: /^Standard input is not JSON/ })
  has(t, await dispatch(['send', '../v1/keys'], '{}'), { code: 2, errors: /is no service/ })
  has(t, await dispatch(['sned']), { code: 2, errors: /^There is no command "sned"\./ })
  has(t, await dispatch(['list', '--wrong']), { code: 2, errors: /--wrong/ })
})

await t.test('what waits for an approval says so, with an exit code of its own', async (t) => {
  const statusUrl = 'https://dispatch.test/api/v1/approvals/1'
  const { url } = await serve(t, json(202, { success: true, status: 'approval_required', rules: ['Texts', 'All'], statusUrl }))
  has(t, await dispatch(['send', 'sms', '--url', url], message(), { DISPATCH_KEY: 'dk_live_x' }), {
    code: 6,
    output: `It waits until somebody else has approved it (Texts, All): ${statusUrl}\n`
  })
})

await t.test('a batch is sent and followed to its end, with each row that did not go', async (t) => {
  const file = join(folder, 'messages.csv')
  const write = (...rows: string[]): void => writeFileSync(file, ['/sms/phoneNumber,/id', ...rows, ''].join('\n'))
  const common = join(folder, 'common.json')
  writeFileSync(common, JSON.stringify({ sms: { message: 'Hello' } }))
  write('+33612345678,a', '+33612345679,b')
  has(t, await dispatch(['batch', 'sms', file, '--common', common]), {
    code: 0,
    output: /^[-\w]{36} finished: 2 rows, 2 succeeded\n$/,
    errors: /^$/
  })
  write('+33612345678,c', '+15005550001,d', '+33,e')
  const { code, output } = await dispatch(['batch', 'sms', file, '--common', common, '--valid'])
  t.equal(code, 1)
  contains(t, output, / 3 rows, 1 succeeded, 1 failed, 1 refused\n {2}row 2 \(d\): .+\n {2}row 3 \(e\): [^\n]*phoneNumber[^\n]*\n$/)
  has(t, await dispatch(['batch', 'sms']), { code: 2, errors: /needs a file/ })
})

await t.test('a bar is for people who look, and leaves nothing behind', (t) => {
  const written = (isTTY: boolean): string => {
    let text = ''
    const write = (chunk: unknown, _encoding: string, done: () => void): void => {
      text += String(chunk)
      done()
    }
    const terminal = Object.assign(new Writable({ write }), { isTTY })
    {
      using bar = openBar(terminal)
      bar.show('sent', 1, 2)
      bar.show('running', 0, 0)
    }
    return text
  }
  t.equal(written(false), '')
  contains(t, written(true), /^\r█{15}░{15} {2}50 % sent\r░{30} {3}0 % running\r +\r$/)
  t.end()
})

await t.test('the exit code tells what became of a request', async (t) => {
  const of = async (status: number, error: string): Promise<number> => {
    const server = await serve(t, refusal(status, error, {}, { 'retry-after': '3600' }))
    return (await dispatch(['send', 'sms'], message(), { DISPATCH_URL: server.url, DISPATCH_KEY: 'dk_live_x' })).code
  }
  t.equal(await of(422, 'provider_error'), 1)
  t.equal(await of(504, 'outcome_unknown'), 3)
  t.equal(await of(503, 'provider_unavailable'), 4)
  t.equal(await of(403, 'forbidden'), 5)
})

await t.test('a template is pulled, changed, pushed and previewed; one that somebody else has changed is not overwritten', async (t) => {
  const { body: shipped } = await service.send('GET', '/api/v1/templates/1')
  const { source, schema, sample } = shipped
  const { body: own } = await service.send('POST', '/api/v1/templates', {
    body: { source: source.replace('name: Invoice', 'name: Ours'), schema, sample }
  })
  const place = join(folder, 'templates')
  has(t, await dispatch(['templates', 'pull', place]), { code: 0, output: new RegExp(`/${own.id}\\.template\\.json `) })
  const file = join(place, `${own.id}.template.json`)
  const old = readFileSync(file, 'utf8')
  has(t, await dispatch(['templates', 'push', file]), { code: 0, output: new RegExp(`^${own.id} version 2`) })
  has(t, JSON.parse(readFileSync(file, 'utf8')), { baseVersion: 2 })
  writeFileSync(file, old)
  has(t, await dispatch(['templates', 'push', file]), { code: 1, errors: /The request: / })
  const out = join(folder, 'preview')
  t.equal((await dispatch(['templates', 'preview', String(own.id), '--out', out])).code, 0)
  t.ok(statSync(out).size > 0)
  has(t, await dispatch(['templates', 'burn']), { code: 2, errors: /There are "templates pull/ })
})

await t.test('the data of templates have types', async (t) => {
  contains(t, (await dispatch(['types'])).output, 'export type InvoiceData = {')
  const schema = {
    type: 'object',
    required: ['a', 'd'],
    properties: {
      a: { type: 'string', description: 'The first */ one.' },
      'b-c': { type: ['integer', 'null'] },
      d: { type: 'array', items: { $ref: 'dispatch:invoice#/$defs/line', required: ['price'] } },
      e: { enum: ['x', 1] },
      f: { anyOf: [{ const: true }, { $ref: '#/properties/a' }, { type: 'string' }] },
      g: {}
    }
  }
  const vocabulary = { 'dispatch:invoice': { $defs: { line: { type: 'object', properties: { price: { type: 'number' } } } } } }
  t.equal(typesOf([{ id: 7, name: '2nd été', schema }], vocabulary), `// Written by \`dispatch types\` from the schemas of the templates.

/** The data of the template "2nd été" (7). */
export type Template2ndÉtéData = {
  /** The first * / one. */
  "a": string
  "b-c"?: number | null
  "d": readonly ({
    "price": number
  })[]
  "e"?: "x" | 1
  /** The first * / one. */
  "f"?: true | string
  "g"?: unknown
}
`.replace('  /** The first * / one. */\n  "f"', '  "f"'))
  t.end()
})

/** A receiver on this machine, and what it got: `verifyCallback` takes each. */
async function receive (t: Test, secret: string): Promise<{ url: string, events: unknown[], turn: () => Promise<unknown> }> {
  const events: unknown[] = []
  const server = createServer((request, response) => {
    void text(request).then(async (body) => {
      events.push(await verified(request.headers, body, secret, ['dispatch.failed', 'dispatch.succeeded', 'company.credits_low'], {}))
      response.writeHead(204).end()
      server.emit('event')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callbacks`,
    events,
    turn: () => once(server, 'event')
  }
}

await t.test('what callbacks tell comes to this machine, signed; after a cut it goes on behind the last event', async (t) => {
  const receiver = await receive(t, secret)
  const event = (id: number): string =>
    `id: ${id}\nevent: event\ndata: ${
      JSON.stringify({ type: 'dispatch.succeeded', timestamp: '2026-03-14T09:00:00Z', sequence: 1, data: { dispatchId: `d${id}` } })
    }\n\n`
  const stream = (text: string, isCut: boolean): Turn => (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(text, () => isCut ? response.destroy() : response.end())
  }
  const server = await serve(t, stream(`id: 7\n\n`, true), stream(event(8), true),
    refusal(503, 'service_unavailable', {}, { 'retry-after': '1000' }), stream(event(9) + event(10), false))
  const env = { DISPATCH_URL: server.url, DISPATCH_KEY: 'dk_live_x', DISPATCH_CALLBACK_SECRET: secret }
  const ended = await dispatch(['listen', '--forward', receiver.url, '--limit', '3'], '', env)
  has(t, ended, {
    code: 0,
    output: /^\S+ dispatch\.succeeded d8 → 204\n\S+ dispatch\.succeeded d9 → 204\n\S+ dispatch\.succeeded d10 → 204\n$/
  })
  contains(t, ended.errors, 'The stream was cut')
  lacks(t, ended.errors, secret, 'it may be the real one of the company')
  t.strictSame(server.seen.map(({ url }) => url.split('?')[1]), [undefined, 'after=7', 'after=8', 'after=8'])
  t.strictSame(receiver.events.map((one) => (one as { data: unknown }).data), [{ dispatchId: 'd8' }, { dispatchId: 'd9' }, {
    dispatchId: 'd10'
  }])
  has(t, await dispatch(['listen'], '', { ...env, DISPATCH_URL: service.url }), { code: 5 }, 'what is refused ends it')
  has(t, await dispatch(['listen', '--forward', 'http://example.com/'], '', env), { code: 2, errors: /--forward takes an address such as/ })
  has(t, await dispatch(['listen', '--limit', 'many'], '', env), { code: 2, errors: /--limit is a number of events/ })
})

await t.test('a stream that ends at once, with nothing in it, is opened again after longer and longer pauses', async (t) => {
  const stream = (text: string): Turn => (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text)
  }
  const data = JSON.stringify({ type: 'company.credits_low', timestamp: '2026-03-14T09:00:00Z', sequence: 1, data: { companyId: 1 } })
  const server = await serve(t, stream(''), stream(''), stream('id: 7\n\n'), stream(''), stream(`event: event\ndata: ${data}\n\n`))
  const pauses: number[] = []
  const ended = await dispatch(['listen', '--limit', '1'], '', { DISPATCH_URL: server.url, DISPATCH_KEY: 'dk_live_x' }, {
    wait (milliseconds) {
      pauses.push(milliseconds)
      return Promise.resolve()
    }
  })
  t.equal(ended.code, 0)
  lacks(t, ended.errors, 'whsec_')
  t.strictSame(pauses, [1_000, 2_000, 1_000, 2_000])
})

await t.test('an event of the service itself is listened to, and a receiver that is away ends nothing', async (t) => {
  const { body: made } = await service.send('POST', '/api/v1/keys', {
    body: { name: 'Listener', mode: 'live', scopes: ['send', 'callbacks'] }
  })
  const env = { DISPATCH_URL: service.url, DISPATCH_KEY: String(made.key) }
  await service.send('GET', '/api/v1/events', { headers: { authorization: `Bearer ${String(made.key)}` } }, null)
  const { promise: begun, resolve } = Promise.withResolvers<undefined>()
  const listening = dispatch(['listen', '--limit', '1', '--forward', 'http://127.0.0.1:1/'], '', env, {
    reported (errors) {
      if (errors.includes('Listening')) resolve(undefined)
    }
  })
  await begun
  await dispatch(['send', 'sms', '--async'], message(), env)
  has(t, await listening, {
    code: 0,
    output: /^\S+ dispatch\.\w+ [-\w]{36}.* → no answer \(bad port\)\n$/,
    errors: /is signed with whsec_/
  })
})

await t.test('a receiver is sent an example of an event, signed; of a type that there is not it says which there are', async (t) => {
  const receiver = await receive(t, secret)
  const env = { DISPATCH_CALLBACK_SECRET: secret }
  has(t, await dispatch(['trigger', 'company.credits_low', '--forward', receiver.url], '', env), {
    code: 0,
    output: 'company.credits_low → 204\n'
  })
  has(t, receiver.events, [{ type: 'company.credits_low', data: { balance: Number } }])
  has(t, await dispatch(['trigger', 'dispatch.nonsense', '--forward', receiver.url], '', env), {
    code: 2,
    errors: /There is no event "dispatch\.nonsense"\. There are:\n {2}\w/
  })
  has(t, await dispatch(['trigger', 'dispatch.failed', '--forward', 'http://127.0.0.1:1/'], '', env), { code: 1, output: /no answer/ })
  has(t, await dispatch(['trigger', 'dispatch.failed'], '', env), { code: 2, errors: /needs --forward/ })
})

await t.test('the secret of a profile is made once, told and stored; without a profile each run has its own', async (t) => {
  const file = join(folder, 'dispatch/profiles.json')
  const reported = /is signed with (whsec_\S+)\n/
  const words = ['trigger', 'company.credits_low', '--forward', 'http://127.0.0.1:1/']
  const before = JSON.parse(readFileSync(file, 'utf8'))
  const env = { DISPATCH_URL: `${service.url}/`, DISPATCH_KEY: key }
  const [, made] = reported.exec((await dispatch(words, '', env)).errors) ?? []
  t.strictSame(JSON.parse(readFileSync(file, 'utf8')), { ...before, default: { ...before.default, secret: made } })
  t.equal(reported.exec((await dispatch(words)).errors)?.[1], made)
  const [, own] = reported.exec((await dispatch(words, '', { ...env, XDG_CONFIG_HOME: join(folder, 'none') })).errors) ?? []
  t.ok(own !== undefined && own !== made)
  lacks(t, readFileSync(file, 'utf8'), String(own))
  lacks(t, (await dispatch(words, '', { DISPATCH_CALLBACK_SECRET: secret })).errors, 'whsec_')
})

await t.test('a stored key goes to its own service alone, and a profile that is named must be there', async (t) => {
  const server = await serve(t, json(200, { data: [], nextCursor: null }))
  for (const env of [{}, { DISPATCH_URL: server.url }]) {
    const reported = await dispatch(['list', ...'DISPATCH_URL' in env ? [] : ['--url', server.url]], '', env)
    has(t, reported, { code: 2, errors: /Who asks\? .* The key of the profile "default" is for http:\S+ alone\.\n$/ })
  }
  t.equal(server.seen.length, 0)
  const env = { DISPATCH_URL: server.url, DISPATCH_KEY: 'dk_test_1' }
  has(t, await dispatch(['list', '--profile', 'nosuch'], '', env), { code: 2, errors: /There is no profile "nosuch"/ })
  has(t, await dispatch(['send', 'sms', '--key', 'Auftrag €'], '{}', env), { code: 2, errors: /--key has a character/ })
  t.equal(server.seen.length, 0)
})

await t.test('all dispatches are followed: each state once, with pauses between streams that end at once', async (t) => {
  const stream = (...dispatches: readonly object[]): Turn => (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(dispatches.length === 0 ? '' : `event: dispatches\ndata: ${JSON.stringify({ data: dispatches })}\n\n`)
  }
  const of = (dispatchId: string, status: string): object => ({ dispatchId, status })
  const server = await serve(t, stream(of('b', 'queued'), of('a', 'failed')), stream(of('b', 'queued'), of('a', 'failed')),
    stream(of('b', 'succeeded'), of('a', 'failed')), stream())
  const pauses: number[] = []
  const ended = await dispatch(['tail'], '', { DISPATCH_URL: server.url, DISPATCH_KEY: 'dk_live_x' }, {
    wait (milliseconds) {
      pauses.push(milliseconds)
      return pauses.length < 5 ? Promise.resolve() : Promise.reject(new Error('Enough.'))
    }
  })
  has(t, ended, { code: 1, output: 'a failed\nb queued\nb succeeded\n', errors: 'Enough.\n' })
  t.strictSame(pauses, [1_000, 2_000, 1_000, 2_000, 4_000])
  const page = await serve(t, html(200))
  const env = { DISPATCH_URL: page.url, DISPATCH_KEY: 'dk_live_x' }
  for (const word of ['tail', 'listen']) has(t, await dispatch([word], '', env), { code: 3, errors: /answered 200 with text\/html/ }, word)
})

await t.test('a batch that waits for an approval ends with the code for it', async (t) => {
  const file = join(folder, 'waits.csv')
  writeFileSync(file, '/sms/phoneNumber\n+33612345678\n')
  const problem = { error: 'approval_required', message: 'Somebody else has to approve it: it goes on when they do.' }
  const server = await serve(t, json(202, { batchId: 'b-1', status: 'paused', counts: { total: 1, waiting: 1 }, problem }))
  const env = { DISPATCH_URL: server.url, DISPATCH_KEY: 'dk_live_x' }
  has(t, await dispatch(['batch', 'sms', file], '', env), { code: 6, output: /^b-1 paused: 1 rows, 1 waiting\n {2}Somebody else/ })
})

await t.test('what is stored, sent and pulled is told to programs as JSON', async (t) => {
  const stored = await dispatch(['login', '--url', service.url, '--profile', 'json', '--json'], `${key}\n`)
  has(t, JSON.parse(stored.output), { profile: 'json', url: service.url, file: /profiles\.json$/ })
  const place = join(folder, 'json')
  const pulled = await dispatch(['templates', 'pull', place, '--json'])
  const [{ file }] = JSON.parse(pulled.output).data
  has(t, JSON.parse((await dispatch(['templates', 'push', file, '--json'])).output), { file, version: Number })
  const words = ['trigger', 'company.credits_low', '--forward', 'http://127.0.0.1:1/', '--json']
  has(t, JSON.parse((await dispatch(words, '', { DISPATCH_CALLBACK_SECRET: secret })).output), {
    type: 'company.credits_low',
    answer: /no answer/
  })
})

await t.test('each shell gets a script that it can read', async (t) => {
  for (const shell of ['bash', 'zsh', 'fish']) has(t, await dispatch(['completion', shell]), { code: 0, output: /dispatch/ })
  execFileSync('bash', ['-n'], { input: (await dispatch(['completion', 'bash'])).output })
  const script = `${
    (await dispatch(['completion', 'bash'])).output
  }\nCOMP_WORDS=(dispatch templates pu) COMP_CWORD=2; _dispatch; echo "\${COMPREPLY[@]}"`
  t.equal(execFileSync('bash', ['-c', script], { encoding: 'utf8' }), 'pull push\n')
  has(t, await dispatch(['completion', 'profiles']), { code: 0, output: /^default\n(.*\n)*json\n$/ })
  has(t, await dispatch(['completion', 'services']), { code: 0, output: /^(\w+(\/\w+)*\n)*file\/email\n/m })
  const named = `dispatch () { echo default acme; }
${(await dispatch(['completion', 'bash'])).output}
COMP_WORDS=(dispatch list --profile ac) COMP_CWORD=3; _dispatch; echo "\${COMPREPLY[@]}"
COMP_WORDS=(dispatch send de) COMP_CWORD=2; _dispatch; echo "\${COMPREPLY[@]}"`
  t.equal(execFileSync('bash', ['-c', named], { encoding: 'utf8' }), 'acme\ndefault\n')
  // Zsh runs the file itself as the function, at its first use.
  contains(t, (await dispatch(['completion', 'zsh'])).output, 'then _dispatch "$@"; else compdef')
  has(t, await dispatch(['completion', 'tcsh']), { code: 2 })
  has(t, await dispatch(['completion', 'events']), { code: 0, output: /^dispatch\.succeeded\n(.*\n)*batch\.finished\n/m })
})

/** What is typed, and what each shell offers: of the words of the command, the states, and what a service has. */
const typed = [
  ['templates pu', ['pull', 'push']],
  ['list --status u', ['uncertain']],
  ['trigger batch.f', ['batch.finished']],
  ['send file/e', ['file/email', 'file/esign']]
] as const

/** Runs a script of a shell, with the command as it answers the questions of completion. */
const requested =
  `dispatch () { case "$2" in events) printf '%s\\n' batch.finished dispatch.failed;; *) printf '%s\\n' file/email file/esign sms;; esac; }`
const shells: Record<string, (script: string, words: readonly string[]) => string> = {
  bash: (script, words) =>
    `${requested}
${script}
COMP_WORDS=(${words.join(' ')}) COMP_CWORD=${String(words.length - 1)}; _dispatch; printf '%s\\n' "\${COMPREPLY[@]}"`,
  // Outside of its editor zsh has no compadd: this one offers what begins as the word does, as its own.
  zsh: (script, words) =>
    `${requested}
compdef () { :; }
compadd () { for one; do [[ "$one" == "$PREFIX"* && "$one" != -- ]] && print -r -- "$one"; done; }
${script}
words=(${words.join(' ')}) CURRENT=${String(words.length)} PREFIX=${words.at(-1) ?? ''}; _dispatch; true`,
  fish: (script, words) =>
    `function dispatch; switch $argv[2]; case events; printf '%s\\n' batch.finished dispatch.failed
case '*'; printf '%s\\n' file/email file/esign sms; end; end
${script}
complete -C '${words.join(' ')}'`
}

for (const [shell, scriptOf] of Object.entries(shells)) {
  const place = ['/usr/bin', '/bin'].map((folder) => join(folder, shell)).find((path) => existsSync(path))
  await t.test(`${shell} completes words, states, events and services`, { skip: place === undefined && `there is no ${shell}` },
    async (t) => {
      const { output } = await dispatch(['completion', shell])
      for (const [words, offered] of typed) {
        const script = scriptOf(output, ['dispatch', ...words.split(' ')])
        const flags = { bash: ['--norc'], zsh: ['-f'], fish: ['--no-config'] }[shell] ?? []
        const answer = execFileSync(place ?? '', [...flags, '-c', script], {
          encoding: 'utf8',
          env: { HOME: folder, PATH: '/usr/bin:/bin' }
        })
        t.strictSame(answer.trim().split('\n').map((line) => line.split('\t')[0]).sort(), [...offered], `${shell}: ${words}`)
      }
    })
}
