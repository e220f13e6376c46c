import t from 'tap'
import { deferredStates } from '../../core/packages/contract/states.ts'
import { runDeferredAction } from '../../core/pipeline/run/deferred.ts'
import { until } from '../core/work/support.ts'
import { chainBody } from '../support/chains.ts'
import { has } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { type Answer, invoiceRequest, startService } from '../support/service.ts'
import { deferredStage, mail, upload } from './support/deferred.ts'

const {
  app,
  send,
  company,
  archive,
  archived,
  ask,
  begun,
  tell,
  becomes,
  lastStep,
  dispatch: read,
  events: eventsOf,
  callbacks,
  credits,
  outbox
} = await deferredStage(t)
const { owner } = app.get('database')
const retry = (dispatchId: string, body: object = {}): Promise<Answer> => send('POST', `/api/v1/dispatches/${dispatchId}/retry`, { body })
const listed = async (state: string): Promise<string[]> =>
  (await send('GET', `/api/v1/dispatches?deferred=${state}&limit=100`)).body.data.map(({ dispatchId }: { dispatchId: string }) =>
    dispatchId
  )
t.beforeEach(() => {
  archive('take')
})

await t.test('a list of providers holds for a deferred step too: the next one is called at once, and it costs once', async (t) => {
  const path = '/api/v1/company/defaults/upload'
  const providers = [{ providerName: 'archive' }, { providerName: 'simulator' }]
  t.equal((await send('PUT', path, { body: { providers } })).status, 200)
  archive('close')
  const before = await credits()
  const dispatchId = await begun(['esign'], [{ on: 'esign.completed', service: 'upload' }])
  await tell(dispatchId, 'completed')
  await becomes(dispatchId, 'done')
  has(t, await lastStep(dispatchId), { status: 'accepted', providerName: 'simulator', providers, creditsCharged: 2 })
  has(t, (await eventsOf(dispatchId, 'calling')).filter(({ service }: { service: string }) => service === 'upload'), [
    { facts: { providerName: 'archive' } },
    { facts: { providerName: 'simulator' } }
  ])
  const esign = (await read(dispatchId)).steps[0].creditsCharged as number
  t.strictSame(await credits(), { balance: before.balance - 2 - esign, held: before.held })
  await send('PUT', path, { body: { providerName: 'simulator' } })
})

await t.test('one that was refused is told, found, and done again, with what is put right', async (t) => {
  const dispatchId = await begun(['esign'], [mail('esign.completed', 'reject@example.com')])
  await tell(dispatchId, 'completed')
  await becomes(dispatchId, 'failed')
  has(t, await read(dispatchId), {
    status: 'succeeded',
    steps: [
      { deferredState: undefined },
      { deferredOn: 'esign.completed', deferredState: 'failed', status: 'rejected', error: { error: 'provider_error' } }
    ]
  })
  t.strictSame(await callbacks(dispatchId), ['esign.completed', 'deferred.failed'])
  const { body } = await owner.selectFrom('outbox').select('body').where('dispatch_id', '=', dispatchId).where('type', '=',
    'deferred.failed').executeTakeFirstOrThrow()
  has(t, JSON.parse(body ?? '{}'), {
    type: 'deferred.failed',
    data: { dispatchId, steps: [{ status: 'accepted' }, { deferredState: 'failed', error: { error: 'provider_error' } }] }
  })
  t.ok((await listed('failed')).includes(dispatchId))

  has(t, await retry(dispatchId, { email: { from: 'demo@example.com' } }), {
    status: 400,
    body: { error: 'validation_error', details: [{ path: '/email/to', code: 'required' }, { path: '/email/subject', code: 'required' }] }
  })
  has(t, await retry(dispatchId, { upload: {} }), { status: 400, body: { error: 'validation_error' } })
  has(t, await retry(dispatchId), { status: 200, body: { success: true, dispatchId, status: 'queued', statusUrl: String } })
  await until('it is told again', async () => (await callbacks(dispatchId)).length === 3)
  const right = { email: { from: 'demo@example.com', to: ['grace@example.com'], subject: 'Put right', body: 'Here it is.' } }
  has(t, await retry(dispatchId, right), { status: 200, body: { status: 'queued' } })
  await becomes(dispatchId, 'done')
  has(t, (await outbox()).find(({ email }) => email?.subject === 'Put right'), {
    email: { to: ['grace@example.com'] },
    attachments: [{ contentType: 'application/pdf' }]
  })
  t.notOk((await listed('failed')).includes(dispatchId))
  t.ok((await listed('done')).includes(dispatchId))
  has(t, await eventsOf(dispatchId, 'resumed'), [
    { service: 'email', actor: { kind: 'user' }, facts: { on: 'esign.completed' } },
    { service: 'email', actor: { kind: 'user' } }
  ])
  has(t, await read(dispatchId), { status: 'succeeded' })
  has(t, await retry(dispatchId), { status: 409, body: { error: 'conflict', message: /deferred action failed/ } })
  const { body: { data: audit } } = await send('GET', '/api/v1/audit?limit=100')
  t.equal(audit.filter((entry: any) => entry.action === 'dispatch.retried' && entry.object.id === dispatchId).length, 2)
})

await t.test('one whose provider stays away is told when the last try has failed, and holds no price from then on', async (t) => {
  archive('close')
  const before = await credits()
  const dispatchId = await begun(['esign'], [upload('esign.completed')])
  await tell(dispatchId, 'completed')
  await until('it is tried', async () => (await lastStep(dispatchId)).status === 'unavailable')
  has(t, await lastStep(dispatchId), { deferredState: 'running', nextTryAt: String })
  t.strictSame(await callbacks(dispatchId), ['esign.completed'])
  const { company_id: companyId, step_id: stepId } = await owner.updateTable('steps').set({ tries: 6 }).where('dispatch_id', '=',
    dispatchId).where('deferred_on', 'is not', null).returning(['company_id', 'step_id']).executeTakeFirstOrThrow()
  await until('its last try has failed', async () => {
    await runDeferredAction(app.get('pipelineParts'), { companyId, dispatchId, stepId }).catch(() => undefined)
    return (await lastStep(dispatchId)).deferredState === 'failed'
  })
  t.strictSame(await callbacks(dispatchId), ['esign.completed', 'deferred.failed'])
  t.strictSame(await credits(), before)
  archive('take')
  await retry(dispatchId)
  await becomes(dispatchId, 'done')
  t.strictSame(await credits(), { ...before, balance: before.balance - 2 })
})

await t.test('one whose event is not to be expected any more is skipped and says why, in the callback of what came instead', async (t) => {
  const dispatchId = await begun(['esign'], [mail('esign.declined', 'ada@example.com'), upload('esign.completed')])
  t.ok((await listed('waiting')).includes(dispatchId))
  await tell(dispatchId, 'expired')
  await becomes(dispatchId, 'skipped')
  const message = (on: string): string => `The event "${on}" is not to be expected any more: the delivery status is "expired".`
  const skipped = [
    { deferredState: 'skipped', status: 'skipped', error: { message: message('esign.declined') } },
    { deferredState: 'skipped', error: { message: message('esign.completed') } }
  ]
  has(t, await read(dispatchId), { status: 'succeeded', steps: [{ status: 'accepted' }, ...skipped] })
  t.strictSame(await callbacks(dispatchId), ['esign.expired'])
  const { body } = await owner.selectFrom('outbox').select('body').where('dispatch_id', '=', dispatchId).executeTakeFirstOrThrow()
  has(t, JSON.parse(body ?? '{}'), { data: { steps: [{ status: 'accepted' }, ...skipped] } })
  has(t, await eventsOf(dispatchId, 'skipped'), [
    { service: 'email', actor: { kind: 'system' }, facts: { on: 'esign.declined', message: message('esign.declined') } },
    { service: 'upload' }
  ])
  t.ok((await listed('skipped')).includes(dispatchId))
  has(t, await retry(dispatchId), { status: 409 }, 'there is nothing to retry')
})

await t.test('one whose provider never tells of its event is refused before anything is sent', async (t) => {
  await send('PUT', '/api/v1/company/providers/universign', { body: { settings: { apiKey: 'key' } } })
  const validate = (on: string): Promise<Answer> =>
    send('POST', '/api/esign/validate', {
      body: chainBody(['esign'], invoiceRequest()['template'], {
        providerName: 'universign',
        deferred: [upload('esign.signed'), upload(on)]
      })
    })
  t.equal((await validate('esign.declined')).status, 200)
  const { status, body } = await validate('esign.viewed')
  t.equal(status, 422)
  t.strictSame(body.details.map(({ path, code }: Record<string, string>) => `${path} ${code}`), [
    '/deferred/1/on not_supported_by_provider'
  ])
  t.equal(body.details[0].message,
    'The provider "universign" never tells of the event "esign.viewed": it tells of started, signed, declined, completed, expired, ' +
      'cancelled alone.')
})

await t.test('a letter that was delivered is not expected back; if it comes all the same, what waited for it is done', async (t) => {
  const dispatchId = await begun(['postal'], [upload('postal.returned')])
  await tell(dispatchId, 'delivered')
  await becomes(dispatchId, 'skipped')
  await tell(dispatchId, 'returned')
  await becomes(dispatchId, 'done')
  t.equal((await lastStep(dispatchId)).error, undefined)
  t.equal(archived.length, 1)
})

const failing = { sms: { phoneNumber: '+15005550001', message: 'Hello' } }
await t.test('those of a dispatch that has failed are skipped, and wait again when it goes on; those of what was ' +
  'accepted go on waiting', async (t) => {
  const refusedSigner = { signers: [{ email: 'reject@example.com', firstName: 'R', lastName: 'R' }] }
  const { status, body: { dispatchId } } = await ask(['esign'], [upload('esign.completed')], refusedSigner)
  t.equal(status, 422)
  has(t, await lastStep(dispatchId), {
    deferredState: 'skipped',
    error: { message: /^The event "esign\.completed" cannot come: the dispatch has ended/ }
  })
  has(t, await retry(dispatchId, { esign: { signers: [{ email: 'ada@example.com', firstName: 'Ada', lastName: 'Lovelace' }] } }), {
    status: 200
  })
  has(t, await lastStep(dispatchId), { deferredState: 'waiting', status: 'waiting', error: undefined })
  await tell(dispatchId, 'completed')
  await becomes(dispatchId, 'done')

  const partial = await begun(['esign', 'sms'], [upload('esign.completed')], failing)
  has(t, await read(partial), { status: 'partial', steps: [{ status: 'accepted' }, { status: 'rejected' }, { deferredState: 'waiting' }] })
})

await t.test('what waits for another try of its provider is released with the dispatches that do', async (t) => {
  archive('close')
  const dispatchId = await begun(['esign'], [upload('esign.completed')])
  await tell(dispatchId, 'completed')
  await until('it waits', async () => (await lastStep(dispatchId)).status === 'unavailable')
  await owner.updateTable('steps').set({ next_try_at: new Date(Date.now() + 3_600_000) }).where('dispatch_id', '=', dispatchId).where(
    'deferred_on',
    'is not',
    null
  ).execute()
  archive('take')
  const release = async (body: object): Promise<unknown> => (await send('POST', '/api/v1/queue/release', { body })).body
  t.strictSame(await release({ providerName: 'simulator' }), { released: 0 })
  t.strictSame(await release({ providerName: 'archive' }), { released: 1 })
  await becomes(dispatchId, 'done')
  t.strictSame((await eventsOf(dispatchId, 'released')).map((event: { service?: string }) => event.service), ['upload'])
})

await t.test('a retry does both: the rest of the path, and what failed of the deferred', async (t) => {
  archive('refuse')
  const dispatchId = await begun(['esign', 'sms'], [upload('esign.completed')], failing)
  await tell(dispatchId, 'completed')
  await becomes(dispatchId, 'failed')
  archive('take')
  has(t, await retry(dispatchId, { sms: { phoneNumber: '+33612345678', message: 'Hello' } }), {
    status: 200,
    body: { status: 'succeeded' }
  })
  await becomes(dispatchId, 'done')
  t.equal(archived.length, 1)
})

await t.test('those of a dispatch that was cancelled are skipped', async (t) => {
  const quiet = await startService(t, { config: { runsWorker: false }, replacements: { renderer: quickRenderer } })
  const { body } = await quiet.send('POST', '/api/esign?async=true', {
    body: chainBody(['esign'], invoiceRequest()['template'], {
      deferred: [{ on: 'esign.completed', service: 'email', from: 'demo@example.com', to: 'a@example.com', subject: 's', body: 'b' }]
    })
  })
  await quiet.send('POST', `/api/v1/dispatches/${body.dispatchId}/cancel`)
  has(t, (await quiet.send('GET', `/api/v1/dispatches/${body.dispatchId}`)).body, {
    status: 'cancelled',
    steps: [{ status: 'planned' }, { deferredState: 'skipped', error: { message: /cannot come/ } }]
  })
})

await t.test('the list takes the states and no others, and a company finds its own dispatches alone', async (t) => {
  for (const state of deferredStates) t.equal((await send('GET', `/api/v1/dispatches?deferred=${state}`)).status, 200, state)
  has(t, await send('GET', '/api/v1/dispatches?deferred=lost'), {
    status: 400,
    body: { error: 'validation_error', details: [{ path: '/query/deferred' }] }
  })
  const { member } = await company('elsewhere')
  for (const state of deferredStates) {
    t.strictSame((await send('GET', `/api/v1/dispatches?deferred=${state}`, {}, member)).body.data, [], state)
  }
})
