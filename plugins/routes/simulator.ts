import { mayUse, sightOf } from '@dispatch/accounts'
import { type JsonObject, type Keyring, Uuid } from '@dispatch/common'
import { AnyJsonObject, deliveryMarks, deliveryMarksOf, type DeliveryService, deliveryStatuses, deliveryStatusesOf, DispatchError,
  isDeliveryService, page, refusal } from '@dispatch/contract'
import { type Configurations, demo, type DispatchRecord, listProviderState, openConfiguration } from '@dispatch/core'
import type { Database } from '@dispatch/database'
import type { Host, State } from '@dispatch/host'
import type { Queue } from '@dispatch/queue'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { SimulatedVendor } from './simulated-vendor.ts'
import { findVisibleDispatch } from './visible-dispatches.ts'

const code = demo.provider

const EventBody = Type.Object({
  dispatchId: Uuid,
  status: Type.Enum([...deliveryStatuses, ...deliveryMarks], {
    description: 'The new delivery status of the dispatch, in the words of its service, or what happened to an e-mail.'
  }),
  reason: Type.Optional(Type.String({ maxLength: 2_000, description: 'Why, in the words of whoever declined, voided or refused it.' }))
}, { title: 'NewSimulatorEvent', additionalProperties: false })

const SentEvent = Type.Object({
  url: Type.Optional(
    Type.String({
      description:
        'Where it was sent: the address of the webhook, with the name of the configuration. Absent for services without webhooks: ' +
        'the simulator is asked after the dispatch instead, at once.'
    })
  ),
  event: AnyJsonObject
}, { title: 'SimulatorEvent' })

type Options = {
  database: Database
  host: Host
  configurations: Configurations
  keyring: Keyring
  vendor: SimulatedVendor
  queue: Queue
  /** What the simulator remembers for a company. */
  stateOf: (companyId: number) => Pick<State, 'put'>
  newId: () => string
}

/** Development only: what the simulator has "sent" for the company, and events that it sends as a vendor. */
export const simulatorRoutes: FastifyPluginCallbackTypebox<Options> = (
  app,
  { database, host, configurations, keyring, vendor, queue, stateOf, newId },
  done
) => {
  /** The configuration that a step was dispatched with, as far as events need it. */
  async function addressee (companyId: number, userId: number | null | undefined): Promise<{ search: string, settings: JsonObject }> {
    const stored = (await configurations.latest(companyId)).configurations.find((configuration) =>
      configuration.providerCode === code && configuration.userId === userId
    )
    return stored === undefined
      ? { search: '', settings: {} }
      : { search: `?account=${stored.account}`, settings: openConfiguration(keyring, companyId, stored) }
  }

  app.get('/api/v1/simulator/outbox', {
    config: { scopes: ['read_all'], errors: [] },
    schema: {
      operationId: 'listSimulatorOutbox',
      tags: ['Simulator'],
      summary: 'Lists what the simulator has sent for the company, the newest first, at most 100 (development only).',
      response: { 200: page(AnyJsonObject) }
    }
  }, async ({ actor }) => {
    if (sightOf(actor).test === true) {
      throw new DispatchError('forbidden',
        'The outbox has whatever the company has sent: a test key sees its dispatches at GET /api/v1/dispatches.')
    }
    const entries = await listProviderState(database, actor.companyId, code, 'outbox:', 100) as JsonObject[]
    return { data: entries.filter(({ service }) => typeof service === 'string' && mayUse(actor, service)), nextCursor: null }
  })

  app.post('/api/v1/simulator/events', {
    config: { scopes: ['send'], errors: ['not_found', 'validation_failed'] },
    schema: {
      operationId: 'createSimulatorEvent',
      tags: ['Simulator'],
      summary:
        'Has something become of a dispatch at the simulator: it sends the event of an esign, postal or email one, signed and by way of ' +
        'the webhook, and is asked after any other (development only).',
      body: EventBody,
      response: { 200: SentEvent }
    }
  }, async ({ actor, body: { dispatchId, status, ...why } }) => {
    const { companyId } = actor
    const record = await findVisibleDispatch(database, actor, dispatchId)
    const { service, stepId, polledAt, remoteId, owner } = stepFor(record, status)
    const webhook = isDeliveryService(service) ? host.find(code)?.manifest.webhooks?.[service] : undefined

    // As with a real vendor, the verb `status` reports the new status before the event is sent.
    await stateOf(companyId).put(`delivery:${remoteId}`, { status, ...why })
    const event = { id: newId(), type: status, transaction: remoteId, ...why }
    if (webhook === undefined) {
      // A key of its own: a question that is just being answered does not know the new status, and holds no other back.
      await queue.send('poll', [{ data: { stepId, polledAt: polledAt?.toISOString() ?? null }, key: event.id }])
      return { event }
    }
    const { search, settings } = await addressee(companyId, owner)
    const url = `/api/webhooks/${service}/providers/${code}/endpoint.json${search}`
    const payload = Buffer.from(JSON.stringify(event))
    await app.inject({
      method: 'POST',
      url,
      payload,
      headers: { 'content-type': 'application/json', ...await vendor.sign(webhook, payload, settings) }
    })
    return { url, event }
  })
  done()
}

/** `owner`: whose configuration it was dispatched with; undefined for nobody's. */
type FollowedStep = { service: DeliveryService, stepId: string, polledAt: Date | null, remoteId: string, owner: number | null | undefined }

/** The step that the simulator tells about with a status. Throws `validation_failed` when there is none. */
function stepFor ({ steps, user_id: userId }: DispatchRecord, status: string): FollowedStep {
  const followed = steps.flatMap(
    ({
      service,
      step_id: stepId,
      polled_at: polledAt,
      provider_code: provider,
      remote_id: remoteId,
      configured_by: configuredBy
    }): FollowedStep[] =>
      provider === code && remoteId !== null && isDeliveryService(service)
        ? [{ service, stepId, polledAt, remoteId, owner: configuredBy === 'nobody' ? undefined : configuredBy === 'user' ? userId : null }]
        : []
  )
  const [first] = followed
  if (first === undefined) throw notFollowed()
  const step = followed.find(({ service }) => wordsOf(service).includes(status))
  if (step === undefined) {
    throw refusal('validation_failed', [{
      path: '/status',
      code: 'not_of_service',
      message: `"${status}" is no status of ${first.service}, which has ${wordsOf(first.service).join(', ')}.`
    }])
  }
  return step
}

function wordsOf (service: DeliveryService): string[] {
  return [...deliveryStatusesOf(service), ...deliveryMarksOf(service)]
}

function notFollowed (): Error {
  return refusal('validation_failed', [{
    path: '/dispatchId',
    code: 'not_followed',
    message: 'The simulator has not accepted a step of this dispatch that has delivery statuses.'
  }])
}
