import type { AuditAuthor } from '@dispatch/accounts'
import { DispatchError, type EndpointChanges, type EndpointTest, type EndpointView, longestPause, type NewCallbackSecret,
  type NewEndpointBody, type NewEndpointView, refusal, testType } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { token } from '@dispatch/plugins/feature'
import type { Queue } from '@dispatch/queue'
import { addressProblems, type Guard, type Network, postToTenant } from '@dispatch/vendor-io'
import { changeEndpoint, type EndpointRow, findEndpoint, insertEndpoint, listEndpoints, noteEndpointTest,
  removeEndpoint } from '../store/endpoints.ts'
import { validAt } from '../store/secrets.ts'
import { attemptOf, callbackJob } from './delivery.ts'
import type { Signing } from './signing.ts'

/** The most endpoints of a company. */
export const maxEndpoints = 10

/** The endpoints of companies. What is undefined is not there. Throws `validation_failed` for an address that is not public. */
export type CallbackEndpoints = {
  list: (companyId: number) => Promise<EndpointView[]>
  find: (companyId: number, endpointId: string) => Promise<EndpointView | undefined>
  /** Throws `conflict` where the company has {@link maxEndpoints} already. */
  create: (author: AuditAuthor, endpoint: NewEndpointBody) => Promise<NewEndpointView>
  change: (author: AuditAuthor, endpointId: string, changes: EndpointChanges) => Promise<EndpointView | undefined>
  /** Answers whether there was one. */
  remove: (author: AuditAuthor, endpointId: string) => Promise<boolean>
  /** Makes a new secret, which is shown only here. The one before stays valid for a day. */
  rotate: (author: AuditAuthor, endpointId: string) => Promise<NewCallbackSecret | undefined>
  /** Sends a test event now, enabled or not, and answers what came of it. It is not tried again, and not recorded as a callback. */
  test: (author: AuditAuthor, endpointId: string) => Promise<EndpointTest | undefined>
}

export const endpoints = token<CallbackEndpoints>('endpoints')

type Options = {
  database: Database
  queue: Pick<Queue, 'send'>
  network: Pick<Network, 'transport'>
  guard: Pick<Guard, 'check'>
  signing: Pick<Signing, 'make' | 'rotate' | 'sign'>
  now: () => Date
  newId: () => string
}

/**
 * The endpoints of companies. Throws `validation_failed` for an address that is not public and a pause that cannot be; `conflict` beyond
 * {@link maxEndpoints}.
 */
export function createCallbackEndpoints ({ database, queue, network, guard, signing, now, newId }: Options): CallbackEndpoints {
  function checkAddress (url: string | undefined): void {
    const problems = addressProblems(guard, url, { path: '/url', what: 'Callbacks' })
    if (problems.length > 0) throw refusal('validation_failed', problems)
  }

  return {
    list: async (companyId) => (await listEndpoints(database, companyId)).map((row) => viewOf(row, now())),

    async find (companyId, endpointId) {
      const row = await findEndpoint(database, companyId, endpointId)
      return row && viewOf(row, now())
    },

    async create (author, { types = null, enabled = true, ...endpoint }) {
      checkAddress(endpoint.url)
      const [{ companyId }, endpointId] = [author, newId()]
      const { stored, shown } = signing.make({ companyId, endpointId })
      const row = await insertEndpoint(database, companyId, { ...endpoint, types, enabled, endpointId, secret: stored }, {
        author,
        at: now(),
        max: maxEndpoints
      })
      if (row === undefined) {
        throw new DispatchError('conflict', `The company has ${maxEndpoints} endpoints, which is the most: remove one of them first.`, {
          reason: 'at_most'
        })
      }
      return { ...viewOf(row, now()), secret: shown }
    },

    async change (author, endpointId, { pausedUntil, ...changes }) {
      checkAddress(changes.url)
      const pause = pausedUntil === undefined ? {} : { paused_until: pausedUntil === null ? null : checkedPause(pausedUntil, now()) }
      const row = await changeEndpoint(database, { companyId: author.companyId, endpointId }, { ...changes, ...pause }, {
        author,
        at: now()
      })
      // What has waited for the end of a pause.
      if (pausedUntil === null) await queue.send('callback', [callbackJob({ companyId: author.companyId, toEndpoint: true }, 'next')])
      return row && viewOf(row, now())
    },

    remove: (author, endpointId) => removeEndpoint(database, { companyId: author.companyId, endpointId }, { author, at: now() }),

    rotate: (author, endpointId) => signing.rotate(author, endpointId),

    async test (author, endpointId) {
      const { companyId } = author
      const row = await findEndpoint(database, companyId, endpointId)
      if (row === undefined) return undefined
      await noteEndpointTest(database, row, { author, at: now() })
      const data = { endpointId, name: row.name }
      const message = { id: newId(), body: JSON.stringify({ type: testType, timestamp: now().toISOString(), sequence: 1, data }) }
      const headers = await signing.sign({ companyId, endpointId, secrets: row.secrets }, message)
      const begun = performance.now()
      const posted = await postToTenant(network.transport, { url: row.url, body: message.body, headers, now: now() })
      return attemptOf(posted, Math.round(performance.now() - begun))
    }
  }
}

/** When a pause ends. Throws `validation_failed` where that is past, or too far. */
function checkedPause (until: string, now: Date): Date {
  const end = new Date(until)
  const ahead = end.getTime() - now.getTime()
  if (ahead > 0 && ahead <= longestPause * 86_400_000) return end
  throw refusal('validation_failed', [{
    path: '/pausedUntil',
    code: ahead > 0 ? 'too_late' : 'in_the_past',
    message: `A pause ends within ${longestPause} days from now (${now.toISOString()}); null ends it at once.`
  }])
}

function viewOf (row: EndpointRow, now: Date): EndpointView {
  return {
    id: row.endpoint_id,
    name: row.name,
    url: row.url,
    types: row.types,
    enabled: row.enabled,
    failingSince: row.failing_since?.toISOString() ?? null,
    ...(row.paused_until === null || row.paused_until <= now ? {} : { pausedUntil: row.paused_until.toISOString() }),
    ...(row.disabled_at === null ? {} : { disabledAt: row.disabled_at.toISOString() }),
    createdAt: row.created_at.toISOString(),
    secrets: validAt(row.secrets, now).map(({ createdAt, expiresAt }) => ({ createdAt, expiresAt }))
  }
}
