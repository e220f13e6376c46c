import { sql } from 'kysely'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { isError } from '../../../../../test/hostile/support.ts'
import { openConsole } from '../../../../../test/plugins/support/console.ts'
import { clockAt } from '../../../../../test/support/clock.ts'
import { contains, has, lacks, matches } from '../../../../../test/support/matching.ts'
import { type Answer, type Login, startService } from '../../../../../test/support/service.ts'
import { run } from '../../../client/command/run.ts'

const clock = clockAt('2026-03-14T09:00:00Z')
const service = await startService(t, { replacements: { now: clock.now } })
const { send } = service
const { signIn, open, post } = openConsole(service)
const company = await service.company('devices')
const other = await service.company('others')

const begin = (client = 'dispatch on ada-laptop', scope = 'send read_own templates'): Promise<Answer> =>
  send('POST', '/auth/device', { body: { client_id: client, scope } }, null)
const ask = (code: unknown): Promise<Answer> =>
  send('POST', '/auth/device/token', {
    body: { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: code }
  }, null)
const read = (userCode: unknown, by: Login): Promise<Answer> => send('POST', '/api/v1/device-logins/read', { body: { userCode } }, by)
const grant = (userCode: unknown, by: Login, more: object = {}): Promise<Answer> =>
  send('POST', '/api/v1/device-logins/grant', { body: { userCode, name: 'Laptop', mode: 'live', scopes: ['send'], ...more } }, by)
const decline = (userCode: unknown, by: Login): Promise<Answer> => send('POST', '/api/v1/device-logins/decline', { body: { userCode } }, by)
const keysOf = async (by: Login): Promise<{ id: string, name: string }[]> => (await send('GET', '/api/v1/keys', {}, by)).body.data

await t.test('a device shows a code, a person grants it a key, and the device gets that once', async (t) => {
  const { status, headers, body: begun } = await begin()
  t.equal(status, 200)
  t.equal(headers.get('cache-control'), 'no-store')
  has(t, begun, { expires_in: 600, interval: 5, verification_uri: 'https://dispatch.example.com/console/device' })
  matches(t, begun.user_code, /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/)
  isError(t, await ask(begun.device_code), 'authorization_pending')
  const typed = String(begun.user_code).toLowerCase().replace('-', ' ')
  has(t, await read(typed, company.member), {
    status: 200,
    body: { client: 'dispatch on ada-laptop', scopes: ['send', 'read_own', 'templates'], sameAddress: true }
  })
  t.equal((await grant(typed, company.member, { services: ['sms'], expiresAt: '2026-04-01T00:00:00Z' })).status, 204)
  clock.advance(5)
  const { status: taken, headers: shown, body: token } = await ask(begun.device_code)
  t.equal(taken, 200)
  t.equal(shown.get('cache-control'), 'no-store')
  has(t, token, { token_type: 'Bearer', scope: 'send', expires_in: 1_522_795 })
  const headersOf = { authorization: `Bearer ${String(token.access_token)}` }
  const message = { providerName: 'simulator', sms: { phoneNumber: '+33612345678', message: 'Hello' } }
  t.equal((await send('POST', '/api/sms', { body: message, headers: headersOf }, null)).status, 200)
  isError(t, await send('POST', '/api/file', { body: {}, headers: headersOf }, null), 'forbidden')
  isError(t, await ask(begun.device_code), 'expired_token', 'a replay')
  const [key] = await keysOf(company.member)
  has(t, key, { name: 'Laptop', scopes: ['send'], services: ['sms'] })
  t.equal((await send('DELETE', `/api/v1/keys/${String(key?.id)}`, {}, company.member)).status, 204)
  isError(t, await send('POST', '/api/sms', { body: message, headers: headersOf }, null), 'unauthorized')
  const { body: { data: noted } } = await send('GET', '/api/v1/audit?limit=10', {}, company.admin)
  const actions = noted.map(({ action }: { action: string }) => action)
  t.strictSame(actions.slice(0, 3), ['key.revoked', 'key.created', 'device-login.granted'])
  lacks(t, JSON.stringify(noted), String(begun.device_code))
})

await t.test('the question is a form of OAuth, too', async (t) => {
  const { body: begun } = await begin()
  const answer = await fetch(`${service.url}/auth/device/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: String(begun.device_code),
      client_id: 'dispatch on ada-laptop'
    })
  })
  t.equal(answer.status, 400)
  has(t, await answer.json(), { error: 'authorization_pending' })
})

await t.test('a device that asks too early is slowed down, each time by five seconds more', async (t) => {
  const { body: { device_code: code } } = await begin()
  isError(t, await ask(code), 'authorization_pending')
  isError(t, await ask(code), 'slow_down')
  clock.advance(9)
  isError(t, await ask(code), 'slow_down', 'ten seconds by now')
  clock.advance(15)
  isError(t, await ask(code), 'authorization_pending')
})

await t.test('a code expires, and what is declined is not granted', async (t) => {
  const { body: late } = await begin()
  const { body: no } = await begin()
  t.equal((await decline(no.user_code, company.member)).status, 204)
  isError(t, await grant(no.user_code, company.member), 'not_found')
  isError(t, await ask(no.device_code), 'access_denied')
  isError(t, await ask(no.device_code), 'expired_token', 'told once')
  clock.advance(600)
  isError(t, await read(late.user_code, company.member), 'not_found')
  isError(t, await grant(late.user_code, company.member), 'not_found')
  isError(t, await ask(late.device_code), 'expired_token')
  isError(t, await ask('x'.repeat(43)), 'expired_token')
})

await t.test('a code that somebody has decided is unknown to everybody, also of another company', async (t) => {
  const { body: begun } = await begin()
  t.equal((await grant(begun.user_code, company.member)).status, 204)
  for (const by of [other.admin, other.operator, company.admin, company.member]) {
    isError(t, await read(begun.user_code, by), 'not_found')
    isError(t, await grant(begun.user_code, by), 'not_found')
    isError(t, await decline(begun.user_code, by), 'not_found')
  }
  t.equal((await ask(begun.device_code)).status, 200)
  t.same(await keysOf(other.admin), [])
})

await t.test('nobody grants more than they may themselves, and whose rights have changed grants nothing', async (t) => {
  const { body: begun } = await begin()
  isError(t, await grant(begun.user_code, company.member, { scopes: ['platform'] }), 'validation_failed')
  isError(t, await grant(begun.user_code, company.member, { expiresAt: '2020-01-01T00:00:00Z' }), 'validation_failed')
  const { body: { key } } = await send('POST', '/api/v1/keys', { body: { name: 'Own', mode: 'live' } }, company.member)
  const byKey = { headers: { authorization: `Bearer ${String(key)}` }, body: { userCode: begun.user_code } }
  isError(t, await send('POST', '/api/v1/device-logins/read', byKey, null), 'forbidden', 'a key grants no key')
  t.equal((await grant(begun.user_code, company.member)).status, 204)
  const { body: { data: users } } = await send('GET', '/api/v1/users', {}, company.admin)
  const id = users.find(({ email }: { email: string }) => email === company.member.email).id
  const password = 'another horse battery'
  t.equal((await send('PUT', '/api/v1/my/password', { body: { current: company.member.password, password } }, company.member)).status, 204)
  company.member.password = password
  const before = (await keysOf(company.member)).length
  isError(t, await ask(begun.device_code), 'access_denied', 'the password has changed since')
  t.equal((await keysOf(company.member)).length, before)
  const { body: again } = await begin()
  t.equal((await grant(again.user_code, company.member)).status, 204)
  await send('PUT', `/api/v1/users/${String(id)}`, { body: { disabled: true } }, company.admin)
  isError(t, await ask(again.device_code), 'access_denied', 'they are disabled')
  await send('PUT', `/api/v1/users/${String(id)}`, { body: { disabled: false } }, company.admin)
})

await t.test('a grant stands until its key is made: also where the person has too many keys, or the database fails', async (t) => {
  const { body: begun } = await begin()
  t.equal((await grant(begun.user_code, other.admin)).status, 204)
  const { body: { id } } = await send('POST', '/api/v1/keys', { body: { name: 'One of many', mode: 'test' } }, other.admin)
  const { owner } = service.app.get('database')
  await sql`insert into api_keys select (jsonb_populate_record(key, jsonb_build_object('key_id', gen_random_uuid(),
    'digest', '\\x' || encode(sha256(number::text::bytea), 'hex')))).*
    from api_keys key, generate_series(1, 99) number where key_id = ${id}`.execute(owner)
  isError(t, await ask(begun.device_code), 'conflict')
  isError(t, await ask(begun.device_code), 'slow_down', 'no two questions make a key at once')
  t.equal((await send('DELETE', `/api/v1/keys/${String(id)}`, {}, other.admin)).status, 204)
  await sql`alter table api_keys rename column ending to gone`.execute(owner)
  clock.advance(10)
  const failed = await ask(begun.device_code)
  await sql`alter table api_keys rename column gone to ending`.execute(owner)
  isError(t, failed, 'internal_error')
  clock.advance(10)
  t.equal((await ask(begun.device_code)).status, 200)
  isError(t, await ask(begun.device_code), 'expired_token', 'a replay')
})

await t.test('a key is granted for what the device asks for, unless the person says otherwise', async (t) => {
  const { body: begun } = await begin('dispatch', 'read_own')
  t.equal((await grant(begun.user_code, company.admin, { scopes: undefined })).status, 204)
  has(t, (await ask(begun.device_code)).body, { scope: 'read_own' })
  const { body: more } = await begin('dispatch', 'send platform')
  isError(t, await grant(more.user_code, company.member, { scopes: undefined }), 'validation_failed', 'no more than they may')
})

await t.test('whoever guesses codes is stopped after ten', async (t) => {
  const guess = () => read('BBBB-BBBB', other.member)
  for (let tries = 0; tries < 10; tries++) isError(t, await guess(), 'not_found')
  const { body: begun } = await begin()
  const stopped = await read(begun.user_code, other.member)
  isError(t, stopped, 'rate_limited')
  t.ok(Number(stopped.headers.get('retry-after')) > 0)
  t.equal((await read(begun.user_code, company.member)).status, 200, 'nobody else is')
})

await t.test('a device has no room to write a message to who reads it', async (t) => {
  for (const client of ['Support: go on https://evil.test', 'Click "Grant"!', '<b>x</b>', 'line\nbreak', 'x'.repeat(41), '\u202eevil',
    ''])
  {
    isError(t, await begin(client), 'validation_error', client)
  }
  isError(t, await begin('dispatch', 'send everything'), 'validation_error')
})

await t.test('the console shows what asks, warns, and grants what its reader ticks', async (t) => {
  const cookie = await signIn(company.member)
  const { body: begun } = await begin('dispatch on mars')
  const code = String(begun.user_code)
  contains(t, (await open('/developers', cookie)).body, 'href="/console/device"')
  contains(t, (await open('/device', cookie)).body, 'Never type a code that somebody has sent you')
  has(t, await post('/device', { code: 'BBBB-BBBC' }, cookie), { status: 404, body: /No command waits for this code/ })
  const { body: page } = await post('/device', { code }, cookie)
  for (const shown of ['<code>dispatch on mars</code>', code, '127.0.0.1', 'Grant it only if you have started this command yourself']) {
    contains(t, page, shown)
  }
  lacks(t, page, 'another address than yours')
  const fields: [string, string][] = [['code', code], ['name', 'Mars'], ['mode', 'live'], ['allServices', 'true'], ['expiresAt',
    '2026-06-12']]
  has(t, await post('/device/grant', fields, cookie), { status: 400, body: /Grant the key/ })
  const granted = await post('/device/grant', [...fields, ['scope', 'send'], ['scope', 'read_own']], cookie)
  t.equal(granted.headers.get('location'), '/console/device?granted=1')
  contains(t, (await open('/device?granted=1', cookie)).body, 'Go back to the command')
  has(t, (await ask(begun.device_code)).body, { scope: 'send read_own' })
  const { body: second } = await begin()
  contains(t, (await post('/device/decline', { code: String(second.user_code) }, cookie)).body, 'The command gets nothing')
  isError(t, await ask(second.device_code), 'access_denied')
})

await t.test('the form as it is shown can be granted: its mode is test, and what only a live key can have is not ticked', async (t) => {
  const cookie = await signIn(company.admin)
  const { body: begun } = await begin('dispatch on venus', 'send read_own templates callbacks')
  const code = String(begun.user_code)
  const { body: page } = await post('/device', { code: code.toLowerCase().replace('-', ' ') }, cookie)
  contains(t, page, `<code>${code}</code>`)
  const ticked = [...page.matchAll(/name="scope" value="(\w+)"[^>]* checked/g)].map(([, scope = '']): [string, string] => ['scope', scope])
  t.same(ticked, [['scope', 'send'], ['scope', 'read_own']])
  const fields: [string, string][] = [['code', code], ['name', 'Venus'], ['mode', 'test'], ['allServices', 'true']]
  const { body: refused } = await post('/device/grant', [...fields, ['scope', 'templates'], ['scope', 'callbacks']], cookie)
  t.equal(refused.split('A test key of this user can have').length, 2, 'it is said once')
  t.equal((await post('/device/grant', [...fields, ...ticked], cookie)).headers.get('location'), '/console/device?granted=1')
})

await t.test('who looks from another address is told so', async (t) => {
  const { body: begun } = await send('POST', '/auth/device', { body: { client_id: 'dispatch' } }, null)
  const requested = request(`${service.url}/api/v1/device-logins/read`, {
    method: 'POST',
    localAddress: '127.0.0.2',
    auth: `${company.admin.email}:${company.admin.password}`,
    headers: { 'content-type': 'application/json' }
  })
  requested.end(JSON.stringify({ userCode: begun.user_code }))
  const [answer] = await once(requested, 'response') as [IncomingMessage]
  has(t, JSON.parse(await text(answer)), { sameAddress: false, address: '127.0.0.1', scopes: ['send', 'read_own'] })
})

await t.test('dispatch login gets its key so, and says what became of one that is declined', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'dispatch-login-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  /** Decides when the command waits for the second time. */
  const login = async (decision: (code: string) => Promise<unknown>) => {
    let [written, waits] = ['', 0]
    const into = () =>
      new Writable({
        write (chunk, _encoding, done) {
          written += String(chunk)
          done()
        }
      })
    const code = await run(['login', '--url', service.url, '--device'], {
      env: { XDG_CONFIG_HOME: folder },
      input: Readable.from([]),
      output: into(),
      errors: into(),
      vocabulary: () => Promise.resolve({}),
      async wait (milliseconds) {
        clock.advance(milliseconds / 1_000)
        if (++waits === 2) await decision(/code: (\S+)/.exec(written)?.[1] ?? '')
      }
    })
    return { code, written }
  }
  const name = randomUUID()
  const granted = await login((code) => grant(code, company.admin, { name, scopes: ['send', 'templates'] }))
  has(t, granted, { code: 0, written: /^Open https:\/\/dispatch\.example\.com\/console\/device in a browser, and type this code: / })
  const { default: { key } } = JSON.parse(readFileSync(join(folder, 'dispatch/profiles.json'), 'utf8'))
  matches(t, key, /^dk_live_/)
  lacks(t, granted.written, key)
  has(t, (await keysOf(company.admin)).find((one) => one.name === name), { scopes: ['send', 'templates'] })
  has(t, await login((code) => decline(code, company.admin)), { code: 5, written: /A person has declined this login/ })
})
