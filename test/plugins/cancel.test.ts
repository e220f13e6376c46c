import { outcomeUnknown, refused, unavailable } from '@dispatch/core/provider'
import t from 'tap'
import type { Queue } from '../../core/packages/queue/queue.ts'
import { failureError } from '../../core/packages/vendor-io/outcome/failure.ts'
import { endOf } from '../../core/pipeline/recover/vendor-cancellation.ts'
import { acquireLease } from '../../core/store/dispatch/runs.ts'
import { beginCancellation } from '../../core/store/vendor/cancellations.ts'
import { listUnsettledSteps } from '../../core/store/vendor/deliveries.ts'
import { sweepDispatches } from '../../core/work/dispatch-worker.ts'
import { isError } from '../hostile/support.ts'
import { chainBody } from '../support/chains.ts'
import { createGate } from '../support/gate.ts'
import { contains, has } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { readingOf } from '../support/reading.ts'
import { type Answer, invoiceRequest, type Login, seededDatabase, startService } from '../support/service.ts'
import { outageOf } from './support/outage.ts'
import { accepts, asksNobody, testProviders, type Verb } from './support/providers.ts'

/** What the vendor "post" makes of the next questions; `requested` are those that it was asked. */
const vendor: { cancel: Verb[], status: Verb[], requested: string[] } = { cancel: [], status: [], requested: [] }
const turn = (verb: 'cancel' | 'status'): Verb => (query, call) => {
  vendor.requested.push(verb)
  return (vendor[verb].shift() ?? (() => Promise.reject(unavailable('Post is closed.'))))(query, call)
}
const says = (status: string): Verb => () => Promise.resolve({ status })
const fails = (error: Error): Verb => () => Promise.reject(error)
const requested = (verb: Verb): Verb => (request, call) => asksNobody().then(() => verb(request, call))

const providers = await testProviders(t)
const statuses = 'statuses: { going: \'accepted\', gone: \'mailed\', back: \'cancelled\' }'
await providers.add('post', { of: 'postal', service: `mailTypes: ['SIMPLE'], idempotency: { kind: 'none' }, ${statuses}` }, accepts, {
  cancel: turn('cancel'),
  status: turn('status')
})
const databaseUrl = await seededDatabase(t)
const outage = outageOf(databaseUrl)
const service = await startService(t, {
  databaseUrl,
  config: { providerDirectories: providers.directories, runsWorker: false },
  replacements: { renderer: quickRenderer }
})
const { app, send } = service
const { dispatch: read, timeline, events, credits, callbacks } = readingOf(service)
const [database, dependencies] = [app.get('database'), app.get('pipelineParts')]
const { company_id: companyId } = await database.owner.selectFrom('users').select('company_id').where('email', '=', 'demo@example.com')
  .executeTakeFirstOrThrow()
await send('PUT', '/api/v1/company/providers/post', { body: { settings: {} } })

/** What was accepted: by the simulator, unless told. */
async function accepted (
  path: readonly ('esign' | 'postal' | 'invoicing' | 'upload')[],
  more: Record<string, unknown> = {}
): Promise<string> {
  const { status, body } = await send('POST', `/api/${path.join('/')}`, { body: chainBody(path, invoiceRequest()['template'], more) })
  t.equal(status, 200, JSON.stringify(body))
  return body.dispatchId as string
}
const posted = (): Promise<string> => accepted(['postal'], { providerName: 'post' })
const cancel = (id: string, login?: Login): Promise<Answer> => send('POST', `/api/v1/dispatches/${id}/cancel`, {}, login)
const after = async (id: string): Promise<string[]> => {
  const all = await timeline(id)
  return all.slice(all.lastIndexOf('answered postal') + 1).map((line) => line.replace(' postal', ''))
}
const changes = async (id: string): Promise<string[]> =>
  (await send('GET', '/api/v1/audit?limit=100')).body.data.filter(({ object }: { object: { id: string } }) => object.id === id).map(
    ({ action }: { action: string }) => action
  )
const sweep = (): Promise<void> => sweepDispatches(dependencies, { send: () => Promise.resolve() } as unknown as Queue)
/** When the vendor was asked for the status last: 1970 where it is to be asked again soon. */
const polledAt = async (id: string): Promise<Date | null> =>
  (await database.owner.selectFrom('steps').select('polled_at').where('dispatch_id', '=', id).executeTakeFirstOrThrow()).polled_at

await t.test('what a vendor has accepted is taken back: the delivery status says so, and the dispatch stays what it is', async (t) => {
  for (const name of ['esign', 'postal'] as const) {
    const id = await accepted([name], { callbackUrl: 'https://client.example/done' })
    const [before, paid] = [await read(id), await credits()]
    const { status, body } = await cancel(id)
    t.equal(status, 200, JSON.stringify(body))
    t.same([body.status, body.creditsCharged, body.steps[0].status, body.steps[0].deliveryStatus], ['succeeded', before.creditsCharged,
      'accepted', 'cancelled'], name)
    t.same((await timeline(id)).slice(-3), ['cancelling', 'polled', 'cancelled'].map((kind) => `${kind} ${name}`))
    t.same(await credits(), paid, 'it stays paid')
    t.same(await callbacks(id), [`${name}.cancelled`])
    t.same(await changes(id), ['dispatch.cancel_requested'])
    has(t, await cancel(id), { status: 409, body: { error: 'conflict', message: /nothing to take back/ } }, 'once more')
  }
})

await t.test('what a vendor does not take back any more is a 409, and its delivery status moves', async (t) => {
  const id = await accepted(['esign'])
  const { remote_id: remoteId } = await database.owner.selectFrom('steps').select('remote_id').where('dispatch_id', '=', id)
    .executeTakeFirstOrThrow()
  // The vendor knows that everybody has signed; its event has not come yet.
  await database.owner.insertInto('provider_state').values({
    company_id: companyId,
    provider_code: 'simulator',
    key: `delivery:${String(remoteId)}`,
    value: JSON.stringify('completed'),
    updated_at: new Date()
  }).execute()
  const message = 'The provider does not take it back: its delivery status is "completed".'
  has(t, await cancel(id), { status: 409, body: { error: 'conflict', message, dispatchId: id } })
  t.equal((await read(id)).steps[0].deliveryStatus, 'completed')
  t.same((await timeline(id)).slice(-3), ['cancelling esign', 'polled esign', 'not_cancelled esign'])
  has(t, await events(id, 'not_cancelled'), [{ actor: { kind: 'provider', code: 'simulator' }, facts: { message } }])
})

const doubt = /It may have been taken back; asking once more is safe\.$/
const lost = fails(outcomeUnknown('The line is dead.'))
const cut = { cancel: [lost], status: [] }
/** What the vendor answers each time that it is to cancel, and what the client and the timeline are told. */
const conduct: Record<string, {
  times: { cancel: Verb[], status?: Verb[] }[]
  reported: { status: number, error?: string, message?: RegExp }
  ends: string[]
  requested: string[]
}> = {
  'refuses, and says that it is on its way': {
    times: [{ cancel: [fails(refused('no', 'Not any more.'))], status: [says('going')] }],
    reported: { status: 409, error: 'conflict', message: /^The provider does not take it back: Not any more\.$/ },
    ends: ['cancelling', 'polled', 'not_cancelled'],
    requested: ['cancel', 'status']
  },
  'refuses, and cannot be asked why': {
    times: [{ cancel: [fails(refused('no', 'Not any more.'))] }],
    reported: { status: 409, error: 'conflict', message: /Not any more\.$/ },
    ends: ['cancelling', 'not_cancelled'],
    requested: ['cancel', 'status']
  },
  'is closed': {
    times: [{ cancel: [fails(unavailable('Later.'))] }],
    reported: { status: 503, error: 'provider_unavailable', message: /^Later\.$/ },
    ends: ['cancelling', 'not_cancelled'],
    requested: ['cancel']
  },
  'is closed, and takes it back the second time': {
    times: [{ cancel: [fails(unavailable('Later.'))] }, { cancel: [says('back')] }],
    reported: { status: 200 },
    ends: ['cancelling', 'not_cancelled', 'cancelling', 'polled', 'cancelled'],
    requested: ['cancel', 'cancel']
  },
  'is cut off, and tells nothing': {
    times: [cut],
    reported: { status: 504, error: 'outcome_unknown', message: doubt },
    ends: ['cancelling', 'cancel_unknown'],
    requested: ['cancel', 'status']
  },
  'is cut off, and says that it is on its way, where it may not have got to it yet': {
    times: [{ cancel: [lost], status: [says('going')] }],
    reported: { status: 504, error: 'outcome_unknown', message: doubt },
    ends: ['cancelling', 'polled', 'cancel_unknown'],
    requested: ['cancel', 'status']
  },
  'is cut off, and says that it is cancelled': {
    times: [{ cancel: [lost], status: [says('back')] }],
    reported: { status: 200 },
    ends: ['cancelling', 'polled', 'cancelled'],
    requested: ['cancel', 'status']
  },
  'is cut off, and says that it is too late': {
    times: [{ cancel: [lost], status: [says('gone')] }],
    reported: { status: 409, error: 'conflict', message: /its delivery status is "mailed"\.$/ },
    ends: ['cancelling', 'polled', 'not_cancelled'],
    requested: ['cancel', 'status']
  },
  'was cut off, and refuses what it has cancelled already': {
    times: [cut, { cancel: [fails(refused('gone', 'There is no such letter.'))], status: [says('back')] }],
    reported: { status: 200 },
    ends: ['cancelling', 'cancel_unknown', 'cancelling', 'polled', 'cancelled'],
    requested: ['cancel', 'status', 'cancel', 'status']
  },
  'was cut off, refuses, and cannot be asked why': {
    times: [cut, { cancel: [fails(refused('gone', 'There is no such letter.'))] }],
    reported: { status: 504, error: 'outcome_unknown', message: /^There is no such letter\. It may have been taken back/ },
    ends: ['cancelling', 'cancel_unknown', 'cancelling', 'cancel_unknown'],
    requested: ['cancel', 'status', 'cancel', 'status']
  },
  'was cut off, and is closed': {
    times: [cut, { cancel: [fails(unavailable('Later.'))] }],
    reported: { status: 504, error: 'outcome_unknown', message: doubt },
    ends: ['cancelling', 'cancel_unknown', 'cancelling', 'cancel_unknown'],
    requested: ['cancel', 'status', 'cancel', 'status']
  },
  'was cut off, and refuses while it says that it is on its way': {
    times: [cut, { cancel: [fails(refused('no', 'Not any more.'))], status: [says('going')] }],
    reported: { status: 409, error: 'conflict', message: /Not any more\.$/ },
    ends: ['cancelling', 'cancel_unknown', 'cancelling', 'polled', 'not_cancelled'],
    requested: ['cancel', 'status', 'cancel', 'status']
  },
  'answers in a word that nobody knows': {
    times: [{ cancel: [says('odd')] }],
    reported: {
      status: 504,
      error: 'outcome_unknown',
      message: /^The answer of the provider does not say that it was taken back\. It may/
    },
    ends: ['cancelling', 'polled', 'cancel_unknown'],
    requested: ['cancel']
  },
  'answers that it is in the post': {
    times: [{ cancel: [says('gone')] }],
    reported: { status: 409, error: 'conflict', message: /its delivery status is "mailed"\.$/ },
    ends: ['cancelling', 'polled', 'not_cancelled'],
    requested: ['cancel']
  },
  'has a provider that fails': {
    times: [{ cancel: [requested(fails(new TypeError('no such field')))] }],
    reported: { status: 504, error: 'outcome_unknown', message: doubt },
    ends: ['cancelling', 'cancel_unknown'],
    requested: ['cancel', 'status']
  },
  'has a provider that fails before it asks': {
    times: [{ cancel: [fails(new TypeError('no such field'))] }],
    reported: { status: 503, error: 'provider_unavailable', message: /before anything was sent\.$/ },
    ends: ['cancelling', 'not_cancelled'],
    requested: ['cancel']
  },
  'was cut off, and has a provider that fails before it asks': {
    times: [cut, { cancel: [fails(new TypeError('no such field'))] }],
    reported: { status: 504, error: 'outcome_unknown', message: doubt },
    ends: ['cancelling', 'cancel_unknown', 'cancelling', 'cancel_unknown'],
    requested: ['cancel', 'status', 'cancel', 'status']
  },
  'returns what cannot be read': {
    times: [{ cancel: [requested(() => Promise.resolve('back'))] }],
    reported: { status: 504, error: 'outcome_unknown', message: doubt },
    ends: ['cancelling', 'cancel_unknown'],
    requested: ['cancel', 'status']
  }
}
for (const [what, { times, reported: { status, error, message }, ends, requested }] of Object.entries(conduct)) {
  await t.test(`a vendor that ${what}`, async (t) => {
    const id = await posted()
    const paid = await credits()
    Object.assign(vendor, { requested: [] })
    let answer: Answer | undefined
    for (const time of times) {
      Object.assign(vendor, { cancel: [...time.cancel], status: [...time.status ?? []] })
      answer = await cancel(id)
    }
    t.equal(answer?.status, status, JSON.stringify(answer?.body))
    t.equal(answer?.body.error, error)
    if (message !== undefined) contains(t, answer?.body.message, message)
    t.same(await after(id), ends)
    t.same(vendor.requested, requested)
    const step = (await read(id)).steps[0]
    t.equal(step.deliveryStatus === 'cancelled', status === 200)
    t.same([(await read(id)).status, step.status, await credits()], ['succeeded', 'accepted', paid])
    t.equal((await polledAt(id))?.getTime() === 0, ends.at(-1) === 'cancel_unknown', 'what is in doubt is asked after soon')
  })
}

await t.test('Retry-After is what the vendor said', async (t) => {
  const id = await posted()
  Object.assign(vendor, { cancel: [fails(failureError({ word: 'provider_unavailable', message: 'Later.', retryAfter: 7 }))], status: [] })
  t.equal((await cancel(id)).headers.get('retry-after'), '7')
})

await t.test('of two that cancel at once one asks the vendor, and the other is told to come again', async (t) => {
  const id = await posted()
  const gate = createGate()
  Object.assign(vendor, {
    requested: [],
    status: [],
    cancel: [async () => {
      await gate.pass()
      return { status: 'back' }
    }]
  })
  const first = cancel(id)
  await gate.reached
  has(t, await cancel(id), { status: 409, body: { error: 'conflict', message: 'The dispatch is being worked on: try again in a moment.' } })
  gate.open()
  t.equal((await first).status, 200)
  t.same(vendor.requested, ['cancel'])
  t.same(await after(id), ['cancelling', 'polled', 'cancelled'])
})

await t.test('a cancellation whose process has died is in doubt once its lease is over, and safe to ask for again', async (t) => {
  const id = await posted()
  const [step] = await listUnsettledSteps(database, { companyId, dispatchId: id })
  const runId = crypto.randomUUID()
  await acquireLease(database, { companyId, dispatchId: id }, { lease: { runId, seconds: 15 }, from: ['succeeded'] })
  t.same(await beginCancellation(database, step!, { runId, actor: { kind: 'system' } }), { doubted: false })
  await sweep()
  t.same(await after(id), ['cancelling'], 'its process may be alive')
  t.equal((await cancel(id)).status, 409)
  await database.owner.updateTable('dispatches').set({ leased_until: new Date(0) }).where('dispatch_id', '=', id).execute()
  t.equal(await beginCancellation(database, step!, { runId, actor: { kind: 'system' } }), undefined, 'without its lease it begins nothing')
  await sweep()
  await sweep()
  t.same(await after(id), ['cancelling', 'recovered', 'cancel_unknown'])
  has(t, await events(id, 'cancel_unknown'), [{ actor: { kind: 'system' }, facts: { message: /not known whether/ } }])
  t.equal((await polledAt(id))?.getTime(), 0)
  t.equal((await read(id)).status, 'succeeded')
  Object.assign(vendor, { requested: [], cancel: [fails(refused('gone', 'There is no such letter.'))], status: [says('back')] })
  has(t, await cancel(id), { status: 200, body: { steps: [{ deliveryStatus: 'cancelled' }] } })
})

await t.test('an answer that comes when the lease is lost is noted all the same', async (t) => {
  const id = await posted()
  const gate = createGate()
  Object.assign(vendor, {
    status: [],
    cancel: [async () => {
      await gate.pass()
      return { status: 'back' }
    }]
  })
  const answer = cancel(id)
  await gate.reached
  // Another process has taken the lease away.
  await database.owner.updateTable('dispatches').set({ run_id: null, leased_until: null }).where('dispatch_id', '=', id).execute()
  await sweep()
  t.same(await after(id), ['cancelling', 'cancel_unknown'])
  gate.open()
  t.equal((await answer).status, 200)
  t.same(await after(id), ['cancelling', 'cancel_unknown', 'polled', 'cancelled'])
  await sweep()
  t.equal((await after(id)).length, 4, 'it has ended')
})

await t.test('what cannot be recorded because the database is away is in doubt', async (t) => {
  const id = await posted()
  Object.assign(vendor, {
    status: [],
    cancel: [async () => {
      await outage.begin()
      return { status: 'back' }
    }]
  })
  has(t, await cancel(id), {
    status: 504,
    body: { error: 'outcome_unknown', message: /could not be recorded\. It may have been taken back/ }
  })
  await outage.end()
  await database.owner.updateTable('dispatches').set({ leased_until: new Date(0) }).where('dispatch_id', '=', id).execute()
  await sweep()
  t.same(await after(id), ['cancelling', 'recovered', 'cancel_unknown'])
  Object.assign(vendor, { cancel: [fails(refused('gone', 'There is no such letter.'))], status: [says('back')] })
  t.equal((await cancel(id)).status, 200)
})

await t.test('where the configuration has gone nobody is asked, and nothing is left begun', async (t) => {
  const id = await posted()
  vendor.requested = []
  await send('DELETE', '/api/v1/company/providers/post')
  for (const time of ['first', 'second']) has(t, await cancel(id), { status: 422, body: { error: 'configuration_missing' } }, time)
  t.same(vendor.requested, [])
  t.same(await after(id), [])
  await send('PUT', '/api/v1/company/providers/post', { body: { settings: {} } })
})

await t.test('what waited for an event that cannot come any more is skipped', async (t) => {
  const id = await accepted(['esign'], { deferred: [{ on: 'esign.completed', service: 'upload' }] })
  has(t, await cancel(id), {
    status: 200,
    body: { status: 'succeeded', steps: [{ service: 'esign', deliveryStatus: 'cancelled' }, { service: 'upload', status: 'skipped' }] }
  })
  t.same((await timeline(id)).slice(-4), ['cancelling esign', 'polled esign', 'skipped upload', 'cancelled esign'])
})

await t.test('of a chain each step is asked for that its provider can take back, the last one first', async (t) => {
  const one = await accepted(['invoicing', 'esign', 'upload'])
  const { status, body } = await cancel(one)
  t.same([status, body.status], [200, 'succeeded'])
  t.same(body.steps.map((step: any) => [step.status, step.deliveryStatus]), [['accepted', undefined], ['accepted', 'cancelled'], [
    'accepted',
    undefined
  ]])
  t.same((await timeline(one)).filter((line) => line.startsWith('cancelling')), ['cancelling esign'])

  const both = async (): Promise<string> => accepted(['esign', 'postal'], { postal: { ...letter, providerName: 'post' } })
  const { postal: letter } = chainBody(['postal'], {}) as { postal: object }
  const two = await both()
  Object.assign(vendor, { cancel: [fails(refused('no', 'Not any more.'))], status: [says('gone')] })
  has(t, await cancel(two), { status: 409, body: { message: /its delivery status is "mailed"/ } }, 'one of them is too late')
  t.same((await read(two)).steps.map(({ deliveryStatus }: { deliveryStatus: string }) => deliveryStatus), ['cancelled', 'mailed'])
  t.same((await timeline(two)).filter((line) => line.startsWith('cancelling')), ['cancelling postal', 'cancelling esign'])
  t.same(await changes(two), ['dispatch.cancel_requested'], 'one request is one line')
})

await t.test('what no provider can take back is a 409', async (t) => {
  const id = await accepted(['invoicing', 'upload'])
  has(t, await cancel(id), { status: 409, body: { error: 'conflict', dispatchId: id, message: /^There is nothing to take back/ } })
})

await t.test('who may not use the service, and who is of another company, asks no vendor', async (t) => {
  const id = await posted()
  vendor.requested = []
  const login = { email: 'no-post@example.com', password: 'a good password' }
  await send('POST', '/api/v1/users', { body: { ...login, role: 'member', services: ['sms'] } })
  isError(t, await cancel(id, login), 'not_found')
  isError(t, await cancel(id, (await service.company('strangers')).admin), 'not_found')
  t.same(vendor.requested, [])
  t.same(await after(id), [])
})

await t.test('how a cancellation ends, by the answer, the status after it, and whether an earlier one is in doubt', (t) => {
  const ends = (['cancelled', 'rejected', 'unavailable', 'uncertain'] as const).map((outcome) =>
    (['cancelled', 'completed', 'signed', null] as const).flatMap((status) =>
      [false, true].map((doubted) => endOf('esign', { outcome }, { status, doubted }))
    )
  )
  const [back, late, open] = ['cancelled', 'not_cancelled', 'cancel_unknown']
  t.same(ends, [
    [back, back, late, late, open, open, open, open],
    [back, back, late, late, late, late, late, open],
    [back, back, late, late, late, late, late, open],
    [back, back, late, late, open, open, open, open]
  ])
  t.end()
})
