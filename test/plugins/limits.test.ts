import { outcomeUnknown, refused, unavailable } from '@dispatch/core/provider'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { createGate } from '../support/gate.ts'
import { contains, has, lacks } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { type Answer, invoiceRequest, startService, type TestService } from '../support/service.ts'
import { accepts, type Handler, testProviders } from './support/providers.ts'

const providers = await testProviders(t)
const gate = createGate()
const handlers: Record<string, Handler> = {
  waiting: async (request, call) => {
    await gate.pass()
    return accepts(request, call)
  },
  silent: () => new Promise(() => undefined),
  throwing: () => Promise.reject(new Error('secret detail of the vendor')),
  unreadable: () => Promise.resolve({ status: 'created' }),
  refusing: () => Promise.reject(refused('E-17', 'The customer is blocked.')),
  unauthorized: () => Promise.reject(refused('401', 'Bad key.')),
  closed: () => Promise.reject(unavailable('Closed for the day.')),
  lost: () => Promise.reject(outcomeUnknown('The line was cut.'))
}
const facts: Record<string, string> = { silent: 'documentTypes: [\'INVOICE\'], timeLimit: 0.05, idempotency: { kind: \'none\' }' }
for (const [code, handler] of Object.entries(handlers)) {
  await providers.add(code, {
    ...(facts[code] === undefined ? {} : { service: facts[code] }),
    errors: '{ map: { 401: \'authentication_error\' } }'
  }, handler)
}

const start = async (synchronousLimit: number): Promise<TestService> => {
  const service = await startService(t, {
    config: { providerDirectories: providers.directories },
    replacements: { renderer: quickRenderer, synchronousLimit }
  })
  for (const code of Object.keys(handlers)) await service.send('PUT', `/api/v1/company/providers/${code}`, { body: { settings: {} } })
  return service
}
const [service, impatient] = [await start(120), await start(0.05)]

const dispatch = (providerName: string, to = service, headers: Record<string, string> = {}): Promise<Answer> =>
  to.send('POST', '/api/invoicing', { body: invoiceRequest({ number: `N-${providerName}` }, { providerName }), headers })
const credits = async (of = service): Promise<object> => {
  const { body: { balance, held } } = await of.send('GET', '/api/v1/credits')
  return { balance, held }
}

await t.test('each thing that a provider can do has its answer, and only an acceptance costs', async (t) => {
  const { held: heldBefore } = await credits() as { held: number }
  const cases: [string, number, object, string, number][] = [
    [
      'refusing',
      422,
      {
        error: 'provider_error',
        message: 'The customer is blocked.',
        details: [{ path: '', code: 'E-17', message: 'The customer is blocked.' }]
      },
      'failed',
      0
    ],
    ['unauthorized', 422, { error: 'authentication_error', details: [{ code: '401' }] }, 'failed', 0],
    ['closed', 503, { error: 'provider_unavailable', message: 'Closed for the day.' }, 'failed', 0],
    ['lost', 504, { error: 'outcome_unknown', message: 'The line was cut.' }, 'uncertain', 1],
    ['silent', 503, { error: 'provider_unavailable', message: /did not answer in time, before anything was sent/ }, 'failed', 0],
    ['throwing', 503, { error: 'provider_unavailable', message: /failed unexpectedly, before anything was sent/ }, 'failed', 0],
    ['unreadable', 503, { error: 'provider_unavailable', message: /cannot be read: \/id .* Nothing was sent/ }, 'failed', 0]
  ]
  let held = heldBefore
  for (const [code, status, body, state, holds] of cases) {
    const answer = await dispatch(code)
    has(t, answer, { status, body: { ...body, dispatchId: String } }, code)
    lacks(t, JSON.stringify(answer.body), 'secret detail')
    has(t, (await service.send('GET', `/api/v1/dispatches/${answer.body.dispatchId}`)).body, {
      status: state,
      creditsCharged: 0,
      steps: [{ status: /rejected|unavailable|uncertain/, generatedDocument: { id: String } }]
    })
    held += holds
    t.strictSame(await credits(), { balance: 100, held }, code)
  }
})

await t.test('a dispatch beyond the synchronous limit is a 504 timeout that says where to look; the work goes ' +
  'on and is charged once', async (t) => {
  const answer = await dispatch('waiting', impatient, { 'x-idempotency-key': 'late' })
  has(t, answer, { status: 504, body: { error: 'timeout', dispatchId: String } })
  const { dispatchId } = answer.body
  contains(t, answer.body.message, `/api/v1/dispatches/${dispatchId}`)
  const read = async (): Promise<any> => (await impatient.send('GET', `/api/v1/dispatches/${dispatchId}`)).body
  await gate.reached
  has(t, await read(), { status: 'running', finishedAt: null, creditsCharged: 0, steps: [{ status: 'calling' }] })
  t.strictSame(await credits(impatient), { balance: 100, held: 1 })
  has(t, await dispatch('waiting', impatient, { 'x-idempotency-key': 'late' }), {
    status: 200,
    body: { success: true, status: 'running', dispatchId, statusUrl: String }
  })

  gate.open()
  while ((await read()).status === 'running') await pause(5)
  has(t, await read(), { status: 'succeeded', creditsCharged: 1 })
  t.strictSame(await credits(impatient), { balance: 99, held: 0 })
  has(t, await dispatch('waiting', impatient, { 'x-idempotency-key': 'late' }), { status: 200, body: { dispatchId, success: true } })
})
