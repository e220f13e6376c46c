import type { AuditAuthor } from '@dispatch/core'
import type { FastifyRequest } from 'fastify'

/** Who makes the change that a request asks for, for the audit log. Throws on a public route: nobody is known there. */
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
