import { execFile } from 'node:child_process'
import dgram from 'node:dgram'
import { get } from 'node:http'
import { connect } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { callContext, installedProvider, invoice, memoryLog, memoryState, outside } from '../../../../test/fixtures/providers/call.ts'
import { has } from '../../../../test/support/matching.ts'
import { vendorOf } from '../../../../test/support/vendor.ts'
import type { JsonObject } from '../../common/json.ts'
import { type CallContext, callDispatch, type CallLimits, type Outcome } from '../call/dispatch.ts'
import { StateFull } from '../call/state.ts'
import type { InstalledProvider } from '../load/load.ts'
import type { Context } from '../manifest/context.ts'
import type { ServiceDefinition } from '../manifest/definition.ts'
import { isVerb } from '../manifest/verbs.ts'
import { failureOf, outcomeUnknown, refused, Secret, Type, unavailable } from '../provider.ts'

const { vendor, network } = await vendorOf(t)
vendor.on('GET /asked', {})

type Call = Context<JsonObject, JsonObject>
type Dispatch = (request: Parameters<ServiceDefinition<'invoicing', Call>['dispatch']>[0], context: Call) => unknown

function installed (dispatch: Dispatch, more: { timeLimit?: number } = {}): InstalledProvider {
  if (!isVerb(dispatch)) throw new TypeError('no verb')
  return installedProvider({
    hosts: ['api.acme.test'],
    settings: Type.Object({ token: Type.Optional(Secret()), user: Type.Optional(Type.String()) }),
    errors: { map: { 20003: 'authentication_error', busy: 'provider_unavailable', lost: 'outcome_unknown' } },
    services: { invoicing: { documentTypes: ['INVOICE'], idempotency: { kind: 'none' }, dispatch, ...more } }
  }, { dispatch })
}

const run = (dispatch: Dispatch, context: Partial<CallContext> = {}, limits: CallLimits = {}): Promise<Outcome> =>
  callDispatch(installed(dispatch), 'invoicing', invoice(), callContext({ resources: outside({ network }), ...context }), limits)

const fail = (thrown: unknown): Dispatch => () => {
  throw thrown
}
const answer = (value: unknown): Dispatch => () => Promise.resolve(value)
const never: Dispatch = () => new Promise(() => undefined)
/** Asks the vendor for something first. */
const afterAsking = (dispatch: Dispatch): Dispatch => async (request, call) => {
  await call.http.get('https://api.acme.test/asked', {}, Type.Null())
  return dispatch(request, call)
}

await t.test('an answer with the vendor\'s id and status is an acceptance', async (t) => {
  const response = { id: '1', status: 'sent', url: 'https://acme.example/1', pages: 2, parts: [{ a: null }] }
  t.strictSame(await run(answer(response)), { outcome: 'accepted', response })
  has(t, await run(() => response), { outcome: 'accepted' }, 'also without a promise')
  t.strictSame(await run(answer({ ...response, url: undefined })), {
    outcome: 'accepted',
    response: { id: '1', status: 'sent', pages: 2, parts: [{ a: null }] }
  })
  t.strictSame(await run(answer({ id: '1', status: 'a\0b\uD800' })), {
    outcome: 'accepted',
    response: { id: '1', status: 'a\uFFFDb\uFFFD' }
  }, 'a stray character loses nothing')
})

const reports: [string, Error, Outcome][] = [
  [
    'a refusal',
    refused('E7', 'No such customer.'),
    { outcome: 'rejected', error: { word: 'provider_error', code: 'E7', message: 'No such customer.' } }
  ],
  [
    'a refusal with a number as its code',
    refused(20003, 'Authenticate'),
    { outcome: 'rejected', error: { word: 'authentication_error', code: '20003', message: 'Authenticate' } }
  ],
  [
    'a refusal that the map calls a pause',
    refused('busy', 'Later.'),
    { outcome: 'unavailable', error: { word: 'provider_unavailable', code: 'busy', message: 'Later.' } }
  ],
  [
    'a refusal that the map calls unknown',
    refused('lost', 'Who knows.'),
    { outcome: 'uncertain', error: { word: 'outcome_unknown', code: 'lost', message: 'Who knows.' } }
  ],
  [
    'a refusal whose code is a name that every object has',
    refused('constructor', 'No.'),
    { outcome: 'rejected', error: { word: 'provider_error', code: 'constructor', message: 'No.' } }
  ],
  [
    'unavailable',
    unavailable('Connection refused.'),
    { outcome: 'unavailable', error: { word: 'provider_unavailable', message: 'Connection refused.' } }
  ],
  ['outcome unknown', outcomeUnknown('Cut off.'), { outcome: 'uncertain', error: { word: 'outcome_unknown', message: 'Cut off.' } }]
]

for (const [name, thrown, outcome] of reports) {
  await t.test(`reported: ${name}`, async (t) => {
    t.strictSame(await run(fail(thrown)), outcome)
    t.strictSame(await run(() => Promise.reject(thrown)), outcome, 'also as a promise')
  })
}

await t.test('a report from the provider\'s own copy of the SDK is understood', async (t) => {
  const copyUrl = `${import.meta.resolve('../../vendor-io/outcome/failure.ts')}?copy`
  const copy = await import(copyUrl) as typeof import('../../vendor-io/outcome/failure.ts')
  t.not(copy.refused, refused)
  has(t, await run(fail(copy.refused(20003, 'Authenticate'))), { error: { word: 'authentication_error' } })
})

const brand = Symbol.for('@dispatch/core/provider failure')
const strange: [string, unknown][] = [
  ['an error', new TypeError('x is not a function')],
  ['nothing', undefined],
  ['a text', 'unavailable'],
  ['a report without a message', { [brand]: { code: 'E7' } }],
  ['a report whose code is no text', { [brand]: { code: 7, message: '' } }],
  ['a report with a word of its own', { [brand]: { word: 'all_good', message: '' } }],
  ['an empty report', { [brand]: null }]
]

for (const [name, thrown] of strange) {
  await t.test(`thrown: ${name} leaves the outcome unknown once anything was sent, and tells the client nothing`, async (t) => {
    const log = memoryLog()
    t.strictSame(await run(fail(thrown), { log }), {
      outcome: 'unavailable',
      error: { word: 'provider_unavailable', message: 'The provider "acme" failed unexpectedly, before anything was sent.', ours: true }
    })
    has(t, log.lines, [{ level: 'error', message: 'provider failed unexpectedly' }])
    t.strictSame(await run(afterAsking(fail(thrown)), { log }), {
      outcome: 'uncertain',
      error: {
        word: 'outcome_unknown',
        message: 'The provider "acme" failed unexpectedly; it may have accepted the request.',
        ours: true,
        host: 'api.acme.test'
      }
    })
  })
}

const cycle: { self?: unknown } = {}
cycle.self = cycle
const depth = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels))

const unreadable: [string, unknown, RegExp][] = [
  ['nothing', undefined, /Nothing was returned/],
  ['null', null, /Expected object, got null/],
  ['no id', { status: 'sent' }, /\/id The field "id" is required/],
  ['an id that is no text', { id: 1, status: 'sent' }, /\/id Expected string, got /],
  ['an empty id', { id: '', status: 'sent' }, /\/id Must not be empty/],
  ['no status', { id: '1' }, /\/status The field "status" is required/],
  ['a url that is no text', { id: '1', status: 'sent', url: {} }, /\/url Expected string/],
  ['a function', { id: '1', status: 'sent', f: () => 1 }, /Not plain JSON/],
  ['a symbol', { id: '1', status: 'sent', s: Symbol('s') }, /Not plain JSON/],
  ['a map', { id: '1', status: 'sent', m: new Map() }, /Not plain JSON/],
  ['a big integer', { id: '1', status: 'sent', n: 1n }, /Not plain JSON/],
  ['a number that is none', { id: '1', status: 'sent', n: NaN }, /Not plain JSON/],
  ['a number without end', { id: '1', status: 'sent', n: Infinity }, /Not plain JSON/],
  ['a circle', { id: '1', status: 'sent', cycle }, /Not plain JSON/],
  [
    'a getter that throws',
    {
      id: '1',
      get status () {
        throw new Error('canary')
      }
    },
    /Not plain JSON/
  ],
  ['too much', { id: '1', status: 'sent', text: 'x'.repeat(65_536) }, /More than 65536 characters/],
  ['too deep', { id: '1', status: 'sent', deep: depth(40) }, /Nested deeper than 32 levels/],
  [
    'a key that reaches a prototype',
    { id: '1', status: 'sent', ...JSON.parse('{"__proto__":{}}') as object, constructor: 1 },
    /The key "__proto__" is not allowed/
  ]
]

for (const [name, returned, why] of unreadable) {
  await t.test(`returned: ${name} cannot be read, and may have been accepted once anything was sent`, async (t) => {
    const outcome = await run(afterAsking(answer(returned)))
    has(t, outcome, {
      outcome: 'uncertain',
      error: { word: 'outcome_unknown', message: /^The answer of the provider "acme" cannot be read: / }
    })
    has(t, outcome, { error: { message: why } })
    has(t, await run(answer(returned)), {
      outcome: 'unavailable',
      error: {
        word: 'provider_unavailable',
        message: /^The answer of the provider "acme" cannot be read: .* Nothing was sent\.$/s,
        ours: true
      }
    })
  })
}

await t.test('time', async (t) => {
  const late = {
    outcome: 'unavailable',
    error: { word: 'provider_unavailable', message: 'The provider "acme" did not answer in time, before anything was sent.' }
  }

  await t.test('a provider that never answers is given up at the limit', async (t) => {
    t.strictSame(await run(never, {}, { limit: 10 }), late)
  })

  await t.test('once anything was sent, it may have accepted the request', async (t) => {
    const caller = new AbortController()
    const requested = run(afterAsking(() => {
      caller.abort()
      return new Promise(() => undefined)
    }), {}, { signal: caller.signal })
    t.strictSame(await requested, {
      outcome: 'uncertain',
      error: {
        word: 'outcome_unknown',
        message: 'The provider "acme" did not answer in time; it may have accepted the request.',
        host: 'api.acme.test'
      }
    })
  })

  await t.test('what a provider begins to send at its end is not sent any more', async (t) => {
    const before = vendor.requests.length
    for (const leave of [() => Promise.reject(new Error('x')), () => new Promise(() => undefined)]) {
      const caller = new AbortController()
      let sending: Promise<unknown> | undefined
      const outcome = run((_request, { http }) => {
        sending = http.get('https://api.acme.test/asked', { jwt: { algorithm: 'HS256', key: 'a secret of some length for it' } },
          Type.Null())
        sending.catch(() => undefined)
        caller.abort()
        return leave()
      }, {}, { signal: caller.signal })
      has(t, await outcome, { outcome: 'unavailable' })
      await t.rejects(sending ?? Promise.resolve(), { message: 'The provider "acme" went on after its call had ended.' })
    }
    t.equal(vendor.requests.length, before)
  })

  await t.test('its own time limit holds where it is shorter', async (t) => {
    t.strictSame(await callDispatch(installed(never, { timeLimit: 0.01 }), 'invoicing', invoice(), callContext(), { limit: 100_000 }), late)
  })

  await t.test('the caller can give up', async (t) => {
    const caller = new AbortController()
    const outcome = run(never, {}, { signal: caller.signal })
    caller.abort()
    t.strictSame(await outcome, late)
  })

  await t.test('a call that was given up before it began reaches no provider', async (t) => {
    has(t, await run(() => t.fail('called'), {}, { signal: AbortSignal.abort() }), {
      outcome: 'unavailable',
      error: { word: 'provider_unavailable' }
    })
  })

  await t.test('one that blocks holds up no other', async (t) => {
    const caller = new AbortController()
    const blocked = run(never, {}, { signal: caller.signal })
    has(t, await run(answer({ id: '1', status: 'sent' })), { outcome: 'accepted' })
    caller.abort()
    await blocked
  })

  await t.test('a pause ends with the call, and one left behind harms nobody', async (t) => {
    const ends: unknown[] = []
    const waiting: Dispatch = async (_request, { wait }) => {
      await wait(1000).catch((end: unknown) => {
        ends.push(end)
        throw end
      })
    }
    has(t, await run(waiting, {}, { limit: 10 }), late)
    await setImmediate()
    has(t, ends, [{ name: 'AbortError' }])
    has(t, await run((_request, { wait }) => {
      void wait(1000)
      return { id: '1', status: 'sent' }
    }), { outcome: 'accepted' })
    has(t, await run(async (_request, { wait }) => {
      await wait(0.001)
      return { id: '1', status: 'sent' }
    }), { outcome: 'accepted' })
  })

  await t.test('what comes after the limit changes nothing', async (t) => {
    const { promise, reject } = Promise.withResolvers<never>()
    has(t, await run(() => promise, {}, { limit: 10 }), late)
    reject(new Error('too late'))
    await setImmediate()
  })
})

await t.test('what cannot be kept in the state says why, and leaves the outcome what the vendor has made of it', async (t) => {
  const why = 'The provider "acme" keeps too much in its state: at most 2 keys and 100 bytes for each configuration. ' +
    'Delete what is not needed any more.'
  const full = (): Promise<never> => Promise.reject(new StateFull('acme', { keys: 2, bytes: 100 }, new Error('DC413')))
  const state = { ...memoryState(), put: full, putIfAbsent: full }
  const log = memoryLog()
  const keeping: Dispatch = async (_request, call) => {
    await call.state.put('k', 1)
    return { id: '1', status: 'sent' }
  }
  vendor.on('POST /sent', {})
  const sending = (dispatch: Dispatch): Dispatch => async (request, call) => {
    await call.http.post('https://api.acme.test/sent', {}, Type.Null())
    return dispatch(request, call)
  }
  t.strictSame(await run(keeping, { state, log }), {
    outcome: 'unavailable',
    error: { word: 'provider_unavailable', message: why, ours: true }
  })
  has(t, log.lines.filter(({ level }) => level === 'warn'), [{ facts: { key: 'k' }, message: why }])
  has(t, await run(sending(keeping), { state }), { outcome: 'uncertain', error: { message: why } })
  t.strictSame(await run(sending(async (_request, call) => {
    const reported = await call.state.putIfAbsent('k', 1).catch((error: unknown) => failureOf(error)?.message ?? null)
    return { id: '1', status: 'sent', told: reported }
  }), { state }), { outcome: 'accepted', response: { id: '1', status: 'sent', told: why } }, 'an adapter that reads it goes on')
  for (const key of ['', 'x'.repeat(501)]) {
    has(t, await run(async (_request, call) => await call.state.put(key, 1)), {
      outcome: 'unavailable',
      error: { message: 'A key of the state has 1 to 500 characters.' }
    })
  }
})

await t.test('what leaves this process in other ways than by the functions of the call counts too', async (t) => {
  const { port } = vendor
  const address = `http://127.0.0.1:${port}/`
  const ways: Record<string, () => Promise<unknown>> = {
    fetch: () => fetch(address).catch(() => undefined),
    http: () => new Promise((resolve) => get(address).on('error', resolve)),
    net: () =>
      new Promise((resolve) => {
        const socket = connect(port, '127.0.0.1', () => resolve(socket.destroy()))
      }),
    udp: () =>
      new Promise<void>((resolve) => {
        const socket = dgram.createSocket('udp4')
        socket.send('x', port, '127.0.0.1', () => socket.close(resolve))
      }),
    'another program': () => new Promise((resolve) => execFile('/bin/true', resolve))
  }
  for (const [way, leave] of Object.entries(ways)) {
    has(t, await run(async () => {
      await leave()
      throw new Error('x')
    }), { outcome: 'uncertain' }, way)
  }
  const state = {
    ...memoryState(),
    async get () {
      await ways['net']?.()
      return undefined
    }
  }
  has(t, await run(async (_request, call) => {
    await call.state.get('x')
    throw new Error('x')
  }, { state }), { outcome: 'unavailable' }, 'what the host does itself, such as a connection to its database, does not')
})

await t.test('a provider gets copies: it changes nothing of the caller\'s', async (t) => {
  const request = invoice()
  const context = callContext({ settings: { token: 'secret-token' }, requestSettings: { list: [1] } })
  const before = structuredClone({ request, settings: context.settings, requestSettings: context.requestSettings })
  await callDispatch(installed((given, call) => {
    for (const object of [given, given.data, given.document, call.settings, call.requestSettings, call]) {
      for (const key of Object.keys(object)) Reflect.deleteProperty(object, key)
    }
    return {}
  }), 'invoicing', request, context)
  t.strictSame({ request, settings: context.settings, requestSettings: context.requestSettings }, before)
})

await t.test('two tenants at the same time do not mix', async (t) => {
  const gate = Promise.withResolvers<undefined>()
  const echo: Dispatch = async ({ data }, { settings, requestSettings, reference, state }) => {
    await state.put('mine', settings['user'] ?? null)
    await gate.promise
    return { id: reference, status: 'sent', user: settings['user'], mine: await state.get('mine'), number: data['number'], requestSettings }
  }
  const provider = installed(echo)
  const outcomes = Array.from({ length: 20 },
    (_, tenant) =>
      callDispatch(provider, 'invoicing', invoice({ data: { number: tenant } }), callContext({
        reference: `step-${tenant}`,
        settings: { user: `user-${tenant}` },
        requestSettings: { tenant }
      })))
  gate.resolve(undefined)
  t.strictSame(await Promise.all(outcomes), outcomes.map((_, tenant) => ({
    outcome: 'accepted',
    response: {
      id: `step-${tenant}`,
      status: 'sent',
      user: `user-${tenant}`,
      mine: `user-${tenant}`,
      number: tenant,
      requestSettings: { tenant }
    }
  })))
})

await t.test('secrets of the settings come out nowhere', async (t) => {
  const secret = 'canary/+ "secret"'
  const basic = Buffer.from(`someone:${secret}`).toString('base64')
  const leaks = { plain: `x${secret}y`, header: `Basic ${basic}`, query: `?token=${encodeURIComponent(secret)}`, [secret]: [{ secret }] }
  const texts = [secret, encodeURIComponent(secret), basic.slice(16, -4)]
  const leaking: Record<string, Dispatch> = {
    'in an answer': answer({ id: '1', status: 'sent', leaks }),
    'in an answer that cannot be read': answer({ [`${secret}\0`]: 1, constructor: 1, status: secret }),
    'in a refusal': fail(refused(secret, JSON.stringify(leaks))),
    'in an unknown outcome': fail(outcomeUnknown(leaks.plain)),
    'in an unexpected error': fail(new Error(secret, { cause: leaks })),
    'in a log': (_request, { log }) => {
      log.debug({ leaks, err: new Error(secret) }, leaks.plain)
      log.info(leaks, leaks.header)
      log.warn([secret], leaks.query)
      log.error({ cycle, secret }, secret)
      return { id: '1', status: 'sent' }
    }
  }
  for (const [where, dispatch] of Object.entries(leaking)) {
    const log = memoryLog()
    const out = JSON.stringify([await run(dispatch, { settings: { token: secret }, log }), log.lines])
    t.strictSame(texts.filter((text) => out.includes(text) || out.includes(JSON.stringify(text).slice(1, -1))), [], where)
  }
})

await t.test('the vendor\'s id comes out as it is, unless a secret of some length stands in it', async (t) => {
  t.strictSame(await run(answer({ id: 'inv-1234', status: 'sent-1234' }), { settings: { token: '1234' } }), {
    outcome: 'accepted',
    response: { id: 'inv-1234', status: 'sent-[redacted]' }
  })
  t.strictSame(await run(answer({ id: 'inv-canary-12345', status: 'sent' }), { settings: { token: 'canary-12345' } }), {
    outcome: 'accepted',
    response: { id: 'inv-[redacted]', status: 'sent' }
  })
})

await t.test('a vendor\'s words are bounded and printable', async (t) => {
  const outcome = await run(fail(refused('c\0'.repeat(200), `\0${'x'.repeat(5000)}`)))
  has(t, outcome, { error: { code: 'c\uFFFD'.repeat(50), message: `\uFFFD${'x'.repeat(999)}` } })
})

await t.test('a service that the provider does not have is the caller\'s mistake', async (t) => {
  await t.rejects(callDispatch({ ...installed(never), verbs: {} }, 'invoicing', invoice(), callContext()), {
    message: 'The provider "acme" has no service "invoicing".'
  })
})
