import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { callContext, installedProvider, invoice, memoryLog, outside } from '../../../../test/fixtures/providers/call.ts'
import { has, lacks } from '../../../../test/support/matching.ts'
import { vendorOf } from '../../../../test/support/vendor.ts'
import type { JsonObject } from '../../common/json.ts'
import type { CallResources } from '../call/call-resources.ts'
import { type CallContext, callDispatch, type Outcome } from '../call/dispatch.ts'
import { invoke } from '../call/invoke.ts'
import type { InstalledProvider } from '../load/load.ts'
import type { Context } from '../manifest/context.ts'
import { isVerb } from '../manifest/verbs.ts'
import { failureOf, Host, recipientUnavailable, refused, Secret, Type, unavailable } from '../provider.ts'

/** How far a request goes, and what the outcome of a whole call is: http as a provider meets it. */
const { vendor, network } = await vendorOf(t)
const url = 'https://api.acme.test/v1/send'
const Sent = Type.Object({ id: Type.String() })

type Call = Context<JsonObject, JsonObject>
type Dispatch = (request: unknown, call: Call) => unknown

function installed (dispatch: Dispatch, more: object = {}): InstalledProvider {
  if (!isVerb(dispatch)) throw new TypeError('no verb')
  return installedProvider({
    hosts: ['api.acme.test'],
    settings: Type.Object({ token: Type.Optional(Secret()), server: Type.Optional(Host()) }),
    errors: { at: '/code', message: '/message', map: { E1: 'authentication_error', E2: 'recipient_unavailable' } },
    services: {
      invoicing: { documentTypes: ['INVOICE'], idempotency: { kind: 'lookup', visibleAfter: 0 }, dispatch, lookup: dispatch, ...more }
    }
  }, { dispatch, lookup: dispatch, cancel: dispatch })
}

const contextOf = (context: Partial<CallContext> = {}, ways: Partial<CallResources> = {}): CallContext =>
  callContext({ resources: outside({ network, ...ways }), ...context })
const run = (dispatch: Dispatch, more: object = {}, context = contextOf(), limit = 10_000): Promise<Outcome> =>
  callDispatch(installed(dispatch, more), 'invoicing', invoice(), context, { limit })

const send: Dispatch = async (_request, { http }) => ({ ...await http.post(url, { json: {} }, Sent), status: 'sent' })
/** Works in two calls: a draft, then what makes it real. */
const twoSteps: Dispatch = async (_request, { http, checkpoint, checkpointed }) => {
  const { id } = checkpointed === undefined ? await http.post('https://api.acme.test/v1/drafts', {}, Sent) : { id: checkpointed }
  await checkpoint(id)
  await http.post(url, { json: { id } }, Sent)
  return { id, status: 'sent' }
}

await t.test('what http throws is the outcome of a provider that lets it pass', async (t) => {
  vendor.answer({ json: { id: '7' } })
  t.strictSame(await run(send), { outcome: 'accepted', response: { id: '7', status: 'sent' } })
  vendor.answer({ status: 422, json: { code: 'E7', message: 'No such customer.' } })
  t.strictSame(await run(send), {
    outcome: 'rejected',
    error: { word: 'provider_error', code: 'E7', message: 'No such customer.', host: 'api.acme.test' }
  })
  vendor.answer({ status: 422, json: { code: 'E1', message: 'Who?' } })
  t.strictSame(await run(send), {
    outcome: 'rejected',
    error: { word: 'authentication_error', code: 'E1', message: 'Who?', host: 'api.acme.test' }
  })
  vendor.answer({ status: 429 })
  has(t, await run(send), { outcome: 'unavailable', error: { word: 'provider_unavailable' } })
  for (const status of [400, 429]) {
    vendor.answer({ status, json: { code: 'E2', message: 'Too many for this number.' } })
    has(t, await run(send), { outcome: 'unavailable', error: { word: 'recipient_unavailable', code: 'E2' } }, String(status))
  }
  const putOff: Dispatch = () => Promise.reject(recipientUnavailable('Its mailbox is full.'))
  has(t, await run(putOff), { outcome: 'unavailable', error: { word: 'recipient_unavailable', message: 'Its mailbox is full.' } })
  vendor.answer({ status: 500, json: { code: 'E2' } })
  has(t, await run(send), { outcome: 'uncertain', error: { word: 'outcome_unknown' } }, 'perhaps it was sent')
  vendor.answer({ status: 503 })
  has(t, await run(send), { outcome: 'uncertain', error: { word: 'outcome_unknown' } })
  has(t, await run(send, { notProcessed: [503] }), { outcome: 'unavailable', error: { word: 'provider_unavailable' } })
  vendor.answer({ cut: 'after-body' })
  has(t, await run(send), { outcome: 'uncertain', error: { word: 'outcome_unknown' } })
})

const excuses: [string, (error: unknown) => unknown][] = [
  [
    'a refusal',
    () => {
      throw refused('timeout', 'It timed out.')
    }
  ],
  [
    'an unavailable vendor',
    () => {
      throw unavailable('It timed out.')
    }
  ],
  [
    'an error of its own',
    () => {
      throw new Error('It timed out.')
    }
  ],
  ['an answer that is none', () => undefined]
]
for (const [what, excuse] of excuses) {
  await t.test(`a provider cannot make ${what} of a request that got lost`, async (t) => {
    for (const answer of [{ cut: 'after-body' }, { cut: 'in-reply' }, { status: 500 }] as const) {
      vendor.answer(answer)
      has(t, await run(async (_request, { http }) => await http.post(url, {}, Sent).catch(excuse)), {
        outcome: 'uncertain',
        error: { word: 'outcome_unknown' }
      })
    }
  })
}

await t.test('a provider that looks after a lost request and finds it accepted says so', async (t) => {
  vendor.on('POST /v1/send', { cut: 'after-body' })
  vendor.on('GET /v1/send', { json: { id: '9' } })
  has(t,
    await run(async (_request, { http }) => ({ ...await http.post(url, {}, Sent).catch(() => http.get(url, {}, Sent)), status: 'found' })),
    { outcome: 'accepted', response: { id: '9' } })
})

await t.test('a provider may refuse after an answer that was no success in its own words', async (t) => {
  vendor.on('POST /v1/send', { json: { id: '', error: 'E1' } })
  has(t, await run(async (_request, { http }) => {
    await http.post(url, {}, Sent)
    throw refused('E1', 'Not sent.')
  }), { outcome: 'rejected', error: { word: 'authentication_error', code: 'E1' } })
})

await t.test('a provider can look at a failure', async (t) => {
  vendor.on('GET /v1/send', { status: 404, json: { code: 'E404' } })
  has(t,
    await run(async (_request, { http }) =>
      await http.get(url, {}, Sent).catch((error: unknown) => ({ id: String(failureOf(error)?.status), status: failureOf(error)?.code }))
    ), { outcome: 'accepted', response: { id: '404', status: 'E404' } })
})

await t.test('a checkpoint', async (t) => {
  const drafts = (): number => vendor.requests.filter(({ path }) => path === '/v1/drafts').length

  await t.test('is recorded before the call that makes it real', async (t) => {
    const order: string[] = []
    vendor.on('POST /v1/drafts', { json: { id: 'draft-1' } })
    vendor.on('POST /v1/send', () => {
      order.push('sent')
      return { json: { id: 'draft-1' } }
    })
    const save = async (id: string): Promise<void> => {
      await pause(1)
      order.push(`saved ${id}`)
    }
    has(t, await run(twoSteps, { checkpoint: true }, contextOf({}, { checkpoint: { save } })), { outcome: 'accepted' })
    t.strictSame(order, ['saved draft-1', 'sent'])
  })

  await t.test('parts what may be repeated from what may not', async (t) => {
    for (const answer of [{ status: 500 }, { cut: 'after-body' }, { cut: 'in-reply' }] as const) {
      vendor.on('POST /v1/drafts', answer)
      has(t, await run(twoSteps, { checkpoint: true }), { outcome: 'unavailable' })
      vendor.on('POST /v1/drafts', { json: { id: 'draft-1' } })
      vendor.on('POST /v1/send', answer)
      has(t, await run(twoSteps, { checkpoint: true }), { outcome: 'uncertain' })
    }
    vendor.on('POST /v1/send', { status: 400 })
    has(t, await run(twoSteps, { checkpoint: true }), { outcome: 'rejected' }, 'a refusal at it is a refusal: only the draft was made')
  })

  await t.test('that an earlier attempt recorded is gone on from, and what follows counts', async (t) => {
    const before = drafts()
    vendor.on('POST /v1/send', { cut: 'after-body' })
    const recorded = contextOf({}, { checkpoint: { id: 'draft-7', save: () => Promise.resolve() } })
    has(t, await run(twoSteps, { checkpoint: true }, recorded), { outcome: 'uncertain' })
    has(t, vendor.requests.at(-1), { json: { id: 'draft-7' } })
    t.equal(drafts(), before)
  })

  await t.test('that cannot be recorded sends nothing further', async (t) => {
    const before = vendor.requests.filter(({ path }) => path === '/v1/send').length
    const save = (): Promise<void> => Promise.reject(new Error('select canary from secrets'))
    t.strictSame(await run(twoSteps, { checkpoint: true }, contextOf({}, { checkpoint: { save } })), {
      outcome: 'unavailable',
      error: { word: 'provider_unavailable', ours: true, message: 'The checkpoint could not be recorded.', host: 'api.acme.test' }
    })
    t.equal(vendor.requests.filter(({ path }) => path === '/v1/send').length, before)
  })

  await t.test('is of a service that declares it, and a text', async (t) => {
    has(t, await run(twoSteps), { outcome: 'uncertain', error: { ours: true } })
    for (const id of ['', 'x'.repeat(501), 7 as unknown as string]) {
      has(t, await run(async (_request, { checkpoint }) => {
        await checkpoint(id)
      }, { checkpoint: true }), { outcome: 'unavailable' })
    }
  })

  await t.test('that was not reached makes of lateness and mistakes what may be repeated', async (t) => {
    t.strictSame(await run(() => new Promise(() => undefined), { checkpoint: true }, contextOf(), 5), {
      outcome: 'unavailable',
      error: { word: 'provider_unavailable', message: 'The provider "acme" did not answer in time, before anything was sent.' }
    })
    has(t, await run(() => {
      throw new TypeError('x')
    }, { checkpoint: true }), { outcome: 'unavailable', error: { ours: true } })
    has(t, await run(async (_request, { checkpoint }) => {
      await checkpoint('1')
      throw new TypeError('x')
    }, { checkpoint: true }), { outcome: 'unavailable' }, 'and where nothing has left yet')
    has(t, await run(async (_request, { checkpoint, http }) => {
      await checkpoint('1')
      await http.get(url, {}, Type.Any()).catch(() => undefined)
      throw new TypeError('x')
    }, { checkpoint: true }), { outcome: 'uncertain' })
  })
})

await t.test('a refusal does not count while a request that may be accepted is under way', async (t) => {
  const reached = Promise.withResolvers<undefined>()
  const answer = Promise.withResolvers<undefined>()
  const slow = 'https://api.acme.test/v1/slow'
  for (const method of ['GET', 'POST']) {
    vendor.on(`${method} /v1/slow`, async () => {
      reached.resolve(undefined)
      await answer.promise
      return { json: { id: '7' } }
    })
  }
  for (const end of [refused('no', 'No.'), unavailable('Later.')]) {
    const outcome = await run(async (_request, { http }) => {
      http.post(slow, {}, Sent).catch(() => undefined)
      await reached.promise
      throw end
    })
    has(t, outcome, { outcome: 'uncertain', error: { message: 'A request was still under way when the call ended.' } })
  }
  has(t, await run(async (_request, { http }) => {
    http.get(slow, {}, Sent).catch(() => undefined)
    await reached.promise
    throw refused('no', 'No.')
  }), { outcome: 'rejected' }, 'what changes nothing does not matter')
  has(t, await run(async (_request, { http }) => {
    await Promise.all([http.post(slow, {}, Sent), http.post('https://other.test/', {}, Sent)])
  }), { outcome: 'uncertain' }, 'nor does another request that surely sent nothing')
  answer.resolve(undefined)
})

await t.test('a request that is left behind when the call ends is not sent', async (t) => {
  const before = vendor.requests.length
  const gate = Promise.withResolvers<undefined>()
  const left = Promise.withResolvers<unknown>()
  await run((_request, { http }) => {
    gate.promise.then(() => http.post(url, {}, Sent)).then(left.resolve, left.resolve)
    return { id: '1', status: 'sent' }
  })
  gate.resolve(undefined)
  has(t, failureOf(await left.promise), { word: 'provider_unavailable', message: /after its call had ended/ })
  t.equal(vendor.requests.length, before)
})

await t.test('a checkpoint that is left behind when the call ends is not recorded', async (t) => {
  const gate = Promise.withResolvers<undefined>()
  const left = Promise.withResolvers<unknown>()
  const saved: string[] = []
  const save = (id: string): Promise<void> => {
    saved.push(id)
    return Promise.resolve()
  }
  await run((_request, { checkpoint }) => {
    gate.promise.then(() => checkpoint('late')).then(left.resolve, left.resolve)
    return { id: '1', status: 'sent' }
  }, { checkpoint: true }, contextOf({}, { checkpoint: { save } }))
  gate.resolve(undefined)
  has(t, failureOf(await left.promise), { word: 'provider_unavailable', ours: true })
  t.strictSame(saved, [])
})

await t.test('an undeclared host is not reached, and a chosen one is', async (t) => {
  vendor.answer({ json: { id: '1' } })
  const to = (host: string): Dispatch => async (_request, { http }) => ({
    ...await http.post(`https://${host}/`, {}, Sent),
    status: 'sent'
  })
  has(t, await run(to('evil.test')), {
    outcome: 'unavailable',
    error: {
      ours: true,
      message:
        'The provider "acme" may not call "evil.test": it is neither in the "hosts" of its manifest nor in a setting of the type Host().'
    }
  })
  has(t, await run(to('mine.test'), {}, contextOf({ settings: { server: 'https://mine.test/api' } })), { outcome: 'accepted' })
})

await t.test('of the other verbs only a cancellation can be uncertain: the rest only read', async (t) => {
  for (const answer of [{ cut: 'after-body' }, { status: 500 }] as const) {
    vendor.on('POST /v1/send', answer)
    has(t, await invoke(installed(send), 'invoicing', 'lookup', { reference: '1' }, contextOf()), { outcome: 'unavailable' })
    has(t, await invoke(installed(send, { checkpoint: true }), 'invoicing', 'cancel', { id: '1' }, contextOf()), { outcome: 'uncertain' })
  }
  vendor.on('POST /v1/send', { json: { id: '1' } })
  has(t, await invoke(installed(send), 'invoicing', 'lookup', { reference: '1' }, contextOf()), { returned: { id: '1' } })
})

await t.test('secrets and tokens that a vendor echoes come out nowhere', async (t) => {
  const log = memoryLog()
  vendor.on('POST /v1/token', { json: { access_token: 'canary-access-token', expires_in: 60 } })
  vendor.on('POST /v1/send', ({ headers }) => ({
    status: 400,
    json: { code: headers['authorization'] ?? null, message: `You sent ${headers['authorization']} and canary-secret.` }
  }))
  const outcome = await run(async (_request, { http, log, settings }) => {
    const oauth2 = {
      grant: 'client_credentials',
      tokenUrl: 'https://api.acme.test/v1/token',
      clientId: 'me',
      clientSecret: typeof settings['token'] === 'string' ? settings['token'] : ''
    } as const
    return await http.post(`${url}?key=canary-secret`, { oauth2 }, Sent).catch((error: unknown) => {
      log.error({ err: error }, 'failed')
      throw error
    })
  }, {}, contextOf({ settings: { token: 'canary-secret' }, log }))
  has(t, outcome, { error: { code: 'Bearer [redacted]', message: 'You sent Bearer [redacted] and [redacted].' } })
  lacks(t, JSON.stringify([outcome, log.lines]), /canary/)
})
