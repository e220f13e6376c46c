import { AsyncLocalStorage } from 'node:async_hooks'
import t from 'tap'
import { Type } from 'typebox'
import { memoryLog, memoryState } from '../../../../test/fixtures/providers/call.ts'
import { has } from '../../../../test/support/matching.ts'
import { Secret } from '../../host/settings/fields.ts'
import { type SettingsSchema, settingsSchemaProblems } from '../../host/settings/settings-schema.ts'
import { failureError, failureOf } from '../../vendor-io/outcome/failure.ts'
import { createSecretHandles, refuseForeignHandles } from '../handles.ts'
import type { Ways } from '../open-calls.ts'
import { createRelay } from '../relay.ts'
import { api, outpost } from './support.ts'

const form = Type.Object({
  user: Type.Optional(Type.String()),
  token: Type.Optional(Secret()),
  second: Type.Optional(Secret()),
  signingKey: Type.Optional(Secret({ 'x-computed': true }))
}, { additionalProperties: false }) as unknown as SettingsSchema

const awkward = 'a/b c"d\\e&f=é'

void t.test('a handle is resolved in each form in which an adapter may write it', (t) => {
  const { settings, reveal } = createSecretHandles(form, { token: awkward })
  const token = settings['token'] as string
  for (const write of [
    (text: string) => text,
    (text: string) => `Bearer ${text}.`,
    (text: string) => JSON.stringify({ text }),
    encodeURI,
    encodeURIComponent,
    (text: string) => new URLSearchParams({ text }).toString()
  ]) {
    t.equal(reveal(write(token)), write(awkward))
    t.same(reveal({ [token]: [write(token), 1, null, true] }), { [awkward]: [write(awkward), 1, null, true] })
  }
  t.end()
})

void t.test('what a vendor repeats of a secret comes back as its handle', (t) => {
  const { settings, hide } = createSecretHandles(form, { token: awkward, second: 'short' })
  const token = settings['token'] as string
  t.same(hide({ a: `x ${awkward}`, b: JSON.stringify(awkward), c: encodeURIComponent(awkward), n: 7 }), {
    a: `x ${token}`,
    b: JSON.stringify(token),
    c: encodeURIComponent(token),
    n: 7
  })
  const basic = Buffer.from(`user:${awkward}`).toString('base64')
  t.ok(hide(basic).includes('[redacted]'))
  t.equal(hide('short'), 'short', 'what occurs by chance is left')
  t.not(settings['second'], 'short')
  t.end()
})

void t.test('settings that are no secrets, and secrets that are computed with, are given as they are', (t) => {
  const given = { user: 'ada', token: 'tok_12345678', signingKey: 'key_12345678' }
  const { settings } = createSecretHandles(form, given)
  t.same({ ...settings, token: '' }, { ...given, token: '' })
  t.not(createSecretHandles(form, given).settings['token'], settings['token'], 'each call has handles of its own')
  t.end()
})

void t.test('a handle of another call is refused', (t) => {
  const one = createSecretHandles(form, { token: 'tok_12345678' })
  const other = createSecretHandles(form, { token: 'tok_12345678' })
  const requested = { fields: { bearer: one.settings['token'] } }
  t.throws(() => refuseForeignHandles(other.reveal(requested)), /secret of another call/)
  t.doesNotThrow(() => refuseForeignHandles(one.reveal(requested)))
  t.doesNotThrow(() => refuseForeignHandles(undefined))
  t.end()
})

void t.test('errors carry secrets over the border as little as values', (t) => {
  const { settings, hideError, revealError } = createSecretHandles(form, { token: 'tok_12345678' })
  const token = settings['token'] as string
  const failure = failureError({ word: 'authentication_error', message: 'no tok_12345678', code: '7', retryAfter: 5 })
  const reported = hideError(failure)
  t.same(failureOf(reported), { word: 'authentication_error', message: `no ${token}`, code: '7', retryAfter: 5 })
  t.same(failureOf(revealError(reported)), failureOf(failure))
  const plain = new Error('nothing')
  t.equal(hideError(plain), plain)
  t.end()
})

void t.test('only a secret can be computed with', (t) => {
  const problems = (settings: object): unknown =>
    settingsSchemaProblems(settings as SettingsSchema, '/settings').map(({ path, code }) => `${path} ${code}`)
  t.same(problems(Type.Object({ key: Type.String({ 'x-computed': true }) })), ['/settings/properties/key not_secret'])
  t.same(problems(Type.Object({ key: Secret({ 'x-computed': true }) })), [])
  t.end()
})

/** Everything that the process is told, from the first byte after its import, and its whole heap. */
const watching = `import v8 from 'node:v8'
const told = []
process.stdin.on('data', (piece) => told.push(Buffer.from(piece)))
const heap = async () => {
  const pieces = []
  for await (const piece of v8.getHeapSnapshot()) pieces.push(Buffer.from(piece))
  return Buffer.concat(pieces)
}`

/** The canary comes backwards, so that looking for it does not put it into the memory that is looked through. */
const looking = `
  const memory = await heap()
  const frames = Buffer.concat(told)
  const canary = [...context.requestSettings.backwards].reverse().join('')
  const place = (where, bytes) => bytes.includes(canary) ? [where] : []
  const seen = [...place('heap', memory), ...place('frames', frames), ...place('context', Buffer.from(JSON.stringify(context)))]`

const canary = 'canary-5f0c7a91e2'
const settings = { token: canary }
const requestSettings = { backwards: Array.from(canary).reverse().join('') }

await t.test('the process of an adapter never has the secrets that it signs in with', async (t) => {
  const { vendor, dispatch } = await outpost(t, {
    head: watching,
    dispatch: `
      const { settings: { token }, http, state } = context
      const Echo = Type.Object({ echo: Type.String() })
      const echoes = [
        await http.post('${api}/x', { bearer: token, json: {} }, Echo),
        await http.post('${api}/x', { basic: ['user', token], json: {} }, Echo),
        await http.post('${api}/x', { apiKey: { header: 'x-key', value: token }, json: {} }, Echo),
        await http.post('${api}/x', { headers: { authorization: 'Token ' + token }, json: { text: JSON.stringify({ token }) } }, Echo),
        await http.post('${api}/x?key=' + encodeURIComponent(token), { form: { token }, query: { again: token } }, Echo)
      ]
      await http.get('${api}/no', { bearer: token }, Echo).catch(() => {})
      await state.put('kept', token)
      const kept = await state.get('kept')
      ${looking}
      return { id: '1', status: 'sent', seen, same: kept === token && echoes.every(({ echo }) => echo === token) }`
  })
  vendor.on('POST /x', { json: { echo: canary } })
  vendor.on('GET /no', { status: 401, json: { message: `no ${canary}` } })
  const state = memoryState()
  const outcome = await dispatch({ settings, requestSettings, state })
  t.same(outcome, { outcome: 'accepted', response: { id: '1', status: 'sent', seen: [], same: true } })
  t.equal(await state.get('kept'), canary)
  const basic = `Basic ${Buffer.from(`user:${canary}`).toString('base64')}`
  t.same(vendor.requests.map(({ headers }) => headers['authorization'] ?? headers['x-key']), [
    `Bearer ${canary}`,
    basic,
    canary,
    `Token ${canary}`,
    undefined,
    `Bearer ${canary}`
  ])
  t.same(vendor.requests[3]?.json, { text: JSON.stringify({ token: canary }) })
  t.same(vendor.requests[4]?.form, { token: canary })
  t.same(vendor.requests[4]?.query, { key: canary, again: canary })
})

await t.test('the host signs in with the secrets of OAuth 2 and of AWS', async (t) => {
  const { vendor, dispatch } = await outpost(t, {
    head: watching,
    dispatch: `
      const { settings: { token }, http } = context
      const oauth2 = { grant: 'client_credentials', tokenUrl: '${api}/token', clientId: 'me', clientSecret: token, clientAuth: 'body' }
      await http.post('${api}/x', { oauth2, json: {} }, Type.Any())
      const sigv4 = { accessKeyId: 'AKIA', secretAccessKey: token, region: 'eu', service: 's3' }
      await http.post('${api}/x', { sigv4, json: {} }, Type.Any())
      ${looking}
      return { id: '1', status: 'sent', seen }`
  })
  vendor.on('POST /token', { json: { access_token: 'access-of-the-vendor' } })
  vendor.on('POST /x', { json: {} })
  t.same(await dispatch({ settings, requestSettings }), { outcome: 'accepted', response: { id: '1', status: 'sent', seen: [] } })
  const [token, first, second] = vendor.requests
  t.equal(token?.form?.['client_secret'], canary)
  t.equal(first?.headers['authorization'], 'Bearer access-of-the-vendor')
  t.ok(second?.headers['authorization']?.startsWith('AWS4-HMAC-SHA256 Credential=AKIA/'))
})

await t.test('a secret that is computed with is there, which the probe finds', async (t) => {
  const { dispatch } = await outpost(t, {
    head: watching,
    settings: 'token: Type.Optional(Secret({ \'x-computed\': true }))',
    dispatch: `${looking}; return { id: '1', status: 'sent', seen }`
  })
  t.same(await dispatch({ settings, requestSettings }), {
    outcome: 'accepted',
    response: { id: '1', status: 'sent', seen: ['heap', 'frames', 'context'] }
  })
})

await t.test('what a process writes at its end has neither the secret that it computes with nor what it has made of it', async (t) => {
  const { vendor, dispatch, log } = await outpost(t, {
    head: 'import { createHmac } from \'node:crypto\'; import { writeSync } from \'node:fs\'',
    settings: 'token: Type.Optional(Secret({ \'x-computed\': true }))',
    dispatch: `
      const { token } = context.settings
      const made = createHmac('sha256', token).update('x').digest('hex')
      await context.http.post('${api}/x', { bearer: made, json: {} }, Type.Any())
      writeSync(2, 'with ' + token + ', ' + Buffer.from(token).toString('hex') + ' and ' + made)
      process.exit(1)`
  })
  vendor.on('POST /x', { json: {} })
  t.equal((await dispatch({ settings })).outcome, 'uncertain')
  const [end] = log.lines.filter(({ message }) => message.startsWith('the process of an adapter ended'))
  has(t, end?.facts, { exitCode: 1, stderr: 'with [redacted], [redacted] and [redacted]' })
})

await t.test('what an adapter says with a handle is redacted as the secret is', async (t) => {
  const { dispatch, log } = await outpost(t, {
    dispatch: `
      const { token } = context.settings
      context.log.warn({ token, list: [encodeURIComponent(token)] }, 'with ' + token)
      if (context.reference === 'thrown') throw refused('x', 'not with ' + token)
      return { id: '1', status: 'sent', token, text: 'it is ' + token }`
  })
  t.same(await dispatch({ settings }), {
    outcome: 'accepted',
    response: { id: '1', status: 'sent', token: '[redacted]', text: 'it is [redacted]' }
  })
  t.same(await dispatch({ settings, reference: 'thrown' }), {
    outcome: 'rejected',
    error: { word: 'provider_error', code: 'x', message: 'not with [redacted]' }
  })
  t.same(log.lines.filter(({ level, facts }) => level === 'warn' && 'token' in facts), Array.from({ length: 2 }, () => ({
    level: 'warn',
    facts: { token: '[redacted]', list: ['[redacted]'] },
    message: 'with [redacted]'
  })))
})

await t.test('settings that an adapter keeps for its next call are of no use there', async (t) => {
  const { vendor, dispatch } = await outpost(t, {
    service: 'checkpoint: true,',
    head: 'let kept',
    dispatch: `kept ??= context.settings.token
      await context.http.post('${api}/x', { bearer: kept, json: {} }, Type.Any())
      return { id: '1', status: 'sent' }`
  })
  vendor.on('POST /x', { json: {} })
  t.equal((await dispatch({ settings })).outcome, 'accepted')
  t.equal((await dispatch({ settings })).outcome, 'unavailable')
  t.equal(vendor.requests.length, 1)
})

await t.test('what a refused call has made is taken back with the secrets of that call', async (t) => {
  const { vendor, dispatch } = await outpost(t, {
    dispatch: `
      const { token } = context.settings
      context.onRefusal((http) => http.delete('${api}/x', { bearer: token }, Type.Null()))
      throw refused('x', 'no')`
  })
  vendor.on('DELETE /x', { status: 204 })
  t.equal((await dispatch({ settings })).outcome, 'rejected')
  t.same(vendor.requests.map(({ headers }) => headers['authorization']), [`Bearer ${canary}`])
})

void t.test('what a process asks for is done in the asynchronous context in which its call began, as traces need it', async (t) => {
  const context = new AsyncLocalStorage<string>()
  const seen: unknown[] = []
  const state = { ...memoryState(), get: () => Promise.resolve(seen.push(context.getStore())) }
  const relay = createRelay(() => Promise.reject(new Error('It is not asked.')), { code: 'acme', log: memoryLog() })
  const ways = { context: { state }, handles: createSecretHandles(form, {}), log: memoryLog() } as unknown as Ways
  const [one, other] = ['one', 'other'].map((name) => context.run(name, () => relay.open(ways)))
  for (const call of [one, other, one]) await relay.handlers['state']?.({ call, word: 'get', key: 'a' })
  t.same(seen, ['one', 'other', 'one'])
})
