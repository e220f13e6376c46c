import type { AuditAuthor } from '@dispatch/accounts'
import type { FastifyRequest } from 'fastify'

/** The author of a change, for the audit log. Throws on a public route, where nobody is authenticated. */
export function auditAuthorOf ({ actor: { userId, companyId, impersonatorId, key }, ip, id }: FastifyRequest): AuditAuthor {
  return {
    userId,
    companyId,
    ...impersonatorId === undefined ? {} : { impersonatorId },
    ...key === undefined ? {} : { keyId: key.id },
    address: ip,
    requestId: id
  }
}
