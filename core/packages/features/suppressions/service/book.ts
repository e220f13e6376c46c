import type { Problem } from '@dispatch/common'
import { type RecipientBook, recipientsIn, suppressed } from '@dispatch/core'
import type { Database, Freshness } from '@dispatch/database'
import { type ServiceName, services, type SuppressionReason } from '@dispatch/services'
import { isWithoutKey } from '@dispatch/tables'
import type { SuppressionBody } from '../contract/suppressions.ts'
import type { AddressHashes } from '../store/holder.ts'
import { addSuppressions, createSuppressedChannels, fieldsOf, findSuppressed, isSuppressed, listTransactional, type NewSuppression,
  removeStopped, type SuppressionRow } from '../store/suppressions.ts'
import type { UnsubscribeLinks } from './unsubscribe-links.ts'

export type BookNeeds = {
  database: Database
  freshness: Freshness
  hashOf: AddressHashes
  links: UnsubscribeLinks
  publicUrl: string
  newId: () => string
}

/** To whom dispatches are not sent, and what dispatches and answers say of that. */
export function createRecipientBook ({ database, freshness, hashOf, links, publicUrl, newId }: BookNeeds): RecipientBook {
  const suppressedChannels = createSuppressedChannels(database, freshness)
  return {
    async screen (companyId, all, { latest }) {
      if (latest) await freshness.check()
      const channels = await suppressedChannels.of(companyId)
      const recipients = all.filter(({ service }) => channels.has(service))
      if (recipients.length === 0) return []
      const keys = recipients.flatMap(({ service: channel, address }) =>
        [address, hashOf({ companyId, channel, address })]
          .map((one) => ({ channel, address: one }))
      )
      const found = await findSuppressed(database, companyId, keys)
      if (found.length === 0) return []
      const templateIds = recipients.flatMap(({ templateId }) => templateId ?? [])
      const allowed = templateIds.length === 0
        ? new Map<number, readonly string[]>()
        : await listTransactional(database, companyId, templateIds)
      return recipients.flatMap(({ service, address, path, templateId = 0 }) => {
        const hashed = hashOf({ companyId, channel: service, address })
        const row = found.find((one) => one.channel === service && (one.address === address || one.address === hashed))
        return row === undefined || allowed.get(templateId)?.includes(row.reason) === true ? [] : [problemOf({ ...row, address }, path)]
      })
    },

    async statusChanged (queries, { companyId, dispatchId, stepId, service, sandbox }, status, facts) {
      const { recipients } = services[service]
      const reason = recipients?.suppressedBy?.[status]
      if (recipients === undefined || reason === undefined || sandbox) return
      const { recipient } = facts
      const address = typeof recipient === 'string' ? recipients.known(recipient) : onlyOne(service, await fieldsOf(queries, stepId))
      if (address === undefined) return
      await addSuppressions(queries, companyId, [{
        ...rowOf(newId(), { channel: service, address, reason }, null),
        dispatch_id: dispatchId
      }], database.now)
    },

    async answered (queries, companyId, { service: channel, address }, wants) {
      const hashed = hashOf({ companyId, channel, address })
      if (wants === 'more') {
        await removeStopped(queries, companyId, channel, [address, hashed])
        return
      }
      // Who was erased, and is suppressed already, is not written down again.
      if (await isSuppressed(queries, companyId, { channel, address: hashed })) return
      await addSuppressions(queries, companyId, [rowOf(newId(), { channel, address, reason: 'stopped' }, null)], database.now)
    },

    unsubscribeUrl: (companyId, { service: channel, address }) =>
      `${publicUrl}/unsubscribe?t=${links.sign({ companyId, channel, address })}`
  }
}

/** A suppression as it is written. */
export function rowOf (id: string, { channel, address, reason = 'manual', note }: SuppressionBody, userId: number | null): NewSuppression {
  return { suppression_id: id, channel, address, reason, note: note ?? null, user_id: userId, dispatch_id: null }
}

const why: Readonly<Record<SuppressionReason, string>> = {
  hard_bounce: 'mail to it came back',
  returned: 'a letter to it came back',
  complaint: 'it reported a message as spam',
  unsubscribed: 'it unsubscribed',
  stopped: 'it answered STOP',
  manual: 'the company wants it so'
}

function problemOf ({ address, since, reason }: SuppressionRow, path: string): Problem {
  return {
    path,
    code: suppressed,
    message: `Nothing is sent to ${address} since ${since.toISOString()} (${reason}): ${why[reason]}.`
  }
}

/** Whom a step says something of: its recipient, where it has one alone, who is not forgotten. */
function onlyOne (service: ServiceName, fields: Awaited<ReturnType<typeof fieldsOf>>): string | undefined {
  if (fields === undefined || isWithoutKey(fields) || services[service].recipients?.suppressesNobody?.(fields) === true) return undefined
  const [first, ...others] = recipientsIn({ service, fields })
  return others.length > 0 ? undefined : first?.address
}
