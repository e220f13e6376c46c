import type { Author } from '@dispatch/core'
import type { FastifyRequest } from 'fastify'

/** Who makes the change that a request asks for, for the audit log. Throws on a public route: nobody is known there. */
export function authorOf ({ actor: { userId, companyId, impersonatorId, key }, ip, id }: FastifyRequest): Author {
  return { userId, companyId, ...impersonatorId === undefined ? {} : { impersonatorId }, ...key === undefined ? {} : { keyId: key.id }, address: ip, requestId: id }
}
