import { type Actor, AuditQuery, type AuditRow, AuditView, type Database, listAudit, page, requireRole } from '@dispatch/core'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { nextCursorOf } from './paging.ts'
import { resourceNotFound } from './path-parameters.ts'

/** Who changed what: of the company for its admins, of any company for operators. */
export const auditRoutes: FastifyPluginCallbackTypebox<{ database: Database }> = (app, { database }, done) => {
  app.get('/api/v1/audit', {
    config: { errors: ['validation_error', 'not_found'] },
    schema: {
      operationId: 'listAuditEntries',
      tags: ['Company'],
      summary: 'Lists the changes of the company, the newest first: who made them, acting for whom, from where, and to what (admins; ' +
        'operators of any company).',
      querystring: AuditQuery,
      response: { 200: page(AuditView) }
    }
  }, async ({ actor, query: { limit = 25, cursor, companyId, from, to, ...filter } }) => {
    requireRole(actor, 'admin', 'operator')
    const times = { ...(from === undefined ? {} : { from: new Date(from) }), ...(to === undefined ? {} : { to: new Date(to) }) }
    const found = await listAudit(database, companyOf(actor, companyId), { ...filter, ...times }, {
      limit,
      ...(cursor === undefined ? {} : { after: cursor })
    })
    return { data: found.map((row) => viewOf(row, actor)), nextCursor: nextCursorOf(found, limit, ({ audit_id: id }) => id) }
  })
  done()
}

function companyOf (actor: Actor, companyId = actor.companyId): number {
  if (companyId !== actor.companyId && actor.role !== 'operator') throw resourceNotFound('company', String(companyId))
  return companyId
}

function viewOf (row: AuditRow, reader: Actor): AuditView {
  const { user_id: userId, user_company_id: companyId, impersonator_id: impersonatorId, key_id: keyId } = row
  // Where the platform's own people sit is no company's business, whomever they act for.
  const isShown = reader.role === 'operator' || row.from_within
  return {
    id: row.audit_id,
    at: row.at.toISOString(),
    action: row.action,
    object: { kind: row.object_kind, id: row.object_id },
    author: userId === null || companyId === null
      ? null
      : { userId, companyId, ...(impersonatorId === null ? {} : { impersonatorId }), ...(keyId === null ? {} : { keyId }) },
    ...(row.address === null || !isShown ? {} : { address: row.address }),
    ...(row.request_id === null ? {} : { requestId: row.request_id }),
    facts: row.facts
  }
}
