import t, { type Test } from 'tap'
import { callContext, installedProvider, invoice, memoryLog, outside } from '../../../../test/fixtures/providers/call.ts'
import { has } from '../../../../test/support/matching.ts'
import { vendorOf } from '../../../../test/support/vendor.ts'
import type { JsonObject } from '../../common/json.ts'
import { callDispatch, type Outcome } from '../call/dispatch.ts'
import type { Context } from '../manifest/context.ts'
import { outcomeUnknown, refused, Type, unavailable } from '../provider.ts'

type Call = Context<JsonObject, JsonObject>
const api = 'https://api.acme.example/v1'

/** Dispatches by a verb, to a vendor that answers all; what it was asked, and what came of it. */
async function dispatched (
  t: Test,
  dispatch: (call: Call) => Promise<unknown>
): Promise<{ outcome: Outcome, requested: string[], logged: string[] }> {
  const { vendor, network } = await vendorOf(t)
  vendor.on('DELETE /v1/a', { json: {} })
  vendor.on('DELETE /v1/b', { json: {} })
  const log = memoryLog()
  const installed = installedProvider({
    hosts: ['api.acme.example'],
    settings: Type.Object({}),
    services: { invoicing: { documentTypes: ['INVOICE'], idempotency: { kind: 'none' }, dispatch } }
  }, { dispatch: (_request: unknown, call: Call) => dispatch(call) })
  const outcome = await callDispatch(installed, 'invoicing', invoice(), callContext({ log, resources: outside({ network }) }))
  return {
    outcome,
    requested: vendor.requests.map(({ method, path }) => `${method} ${path}`),
    logged: log.lines.flatMap(({ message }) => message.includes('left at the vendor') ? [message] : [])
  }
}

const making = (name: string) => ({ onRefusal }: Call): void => {
  onRefusal((http) => http.delete(`${api}/${name}`, {}, Type.Unknown()))
}

await t.test('what a refused dispatch has made is taken back, the last thing first', async (t) => {
  const { outcome, requested, logged } = await dispatched(t, (call) => {
    making('a')(call)
    making('b')(call)
    throw refused('no', 'No.')
  })
  has(t, outcome, { outcome: 'rejected', error: { code: 'no' } })
  t.same(requested, ['DELETE /v1/b', 'DELETE /v1/a'])
  t.same(logged, [])
})

await t.test('nothing is taken back of what was accepted, may have been, or will be tried again', async (t) => {
  const ends: [string, () => unknown][] = [
    ['accepted', () => ({ id: '1', status: 'sent' })],
    [
      'unavailable',
      () => {
        throw unavailable('Later.')
      }
    ],
    [
      'uncertain',
      () => {
        throw outcomeUnknown('Who knows.')
      }
    ]
  ]
  for (const [expected, end] of ends) {
    const { outcome, requested } = await dispatched(t, async (call) => {
      making('a')(call)
      return await Promise.resolve(end())
    })
    has(t, outcome, { outcome: expected })
    t.same(requested, [], expected)
  }
})

await t.test('what cannot be taken back changes nothing, and is told in the log', async (t) => {
  const { outcome, requested, logged } = await dispatched(t, (call) => {
    making('a')(call)
    making('unknown')(call)
    call.onRefusal(() => Promise.reject(new Error('No idea.')))
    throw refused('no', 'No.')
  })
  has(t, outcome, { outcome: 'rejected', error: { code: 'no' } })
  t.same(requested, ['DELETE /v1/unknown', 'DELETE /v1/a'])
  t.equal(logged.length, 2)
})
