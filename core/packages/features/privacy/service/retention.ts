import { type AuditAuthor, noteAudit, readRetention, setRetention } from '@dispatch/accounts'
import { refusal, type Retention, retentionInEffect } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { token } from '@dispatch/plugins/feature'
import { keptServices, type RetentionBody, type RetentionView } from '../contract/retention.ts'

/** For how many days companies keep the data of what they send. */
export type Retentions = {
  read: (companyId: number) => Promise<RetentionView>
  /** Throws `validation_failed` where it is longer than the operator's. */
  set: (author: AuditAuthor, body: RetentionBody) => Promise<RetentionView>
}

export const retentions = token<Retentions>('retentions')

/** For how many days companies keep their data. Throws `validation_failed` for more days than the operator keeps any. */
export function createRetentions ({ database, operatorDays, now }: {
  database: Database
  operatorDays: number
  now: () => Date
}): Retentions {
  const viewOf = (retention: Retention): RetentionView => ({
    operatorDays,
    ...retention,
    inEffect: retentionInEffect(retention, operatorDays)
  })

  function requireShorter ({ days, services = {} }: RetentionBody): void {
    const given = [['/days', days] as const, ...keptServices.map((name) => [`/services/${name}`, services[name]] as const)]
    const longer = given.filter(([, one]) => (one ?? 0) > operatorDays)
    if (longer.length === 0) return
    throw refusal('validation_failed', longer.map(([path]) => ({
      path,
      code: 'longer_than_operator',
      message: `The operator keeps the data of all companies for ${operatorDays} days: say as many or fewer.`
    })))
  }

  return {
    read: async (companyId) => viewOf(await database.reading(companyId, (queries) => readRetention(queries, companyId))),

    async set (author, body) {
      requireShorter(body)
      const { companyId } = author
      const retention = { days: body.days ?? null, services: body.services ?? {} }
      await database.company(companyId, async (queries) => {
        await setRetention(queries, companyId, retention)
        await noteAudit(queries, {
          companyId,
          author,
          at: now(),
          action: 'retention.changed',
          object: { kind: 'company', id: String(companyId) },
          facts: { days: retention.days, ...retention.services }
        })
      })
      return viewOf(retention)
    }
  }
}
