import { page, PageQuery } from '@dispatch/contract'
import { auditAuthorOf, integerIn, largestId, pageOf, resourceNotFound } from '@dispatch/plugins/routes'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { DeletionBody, DeletionView } from '../contract/deletions.ts'
import type { Deletions } from '../service/deletions.ts'

const tags = ['Platform']

type Named = { Params: { id: string } }

/** The deletion of companies, for operators. */
export const deletionRoutes: FastifyPluginCallbackTypebox<{ deletions: Deletions }> = (app, { deletions }, done) => {
  app.get('/api/v1/company-deletions', {
    config: { errors: ['validation_error'] },
    schema: {
      operationId: 'listCompanyDeletions',
      tags,
      summary: 'Lists companies that were deleted or are just being deleted, the newest first (operators).',
      querystring: PageQuery,
      response: { 200: page(DeletionView) }
    }
  }, async ({ query: { limit = 25, cursor } }) => {
    const after = cursor === undefined ? undefined : Math.min(Number(cursor), largestId)
    return pageOf(await deletions.list({ limit: limit + 1, after }), limit, ({ companyId }) => companyId)
  })

  app.get<Named>('/api/v1/companies/:id/deletion', {
    config: { errors: ['not_found'] },
    schema: {
      operationId: 'readCompanyDeletion',
      tags,
      summary: 'Reads what the deletion of a company would take and what is in its way, or how far it is (operators).',
      response: { 200: DeletionView }
    }
  }, async ({ params: { id } }) => await deletions.find(integerIn(id) ?? nothing(id)) ?? nothing(id))

  app.post<Named & { Body: DeletionBody }>('/api/v1/companies/:id/deletion', {
    config: { errors: ['not_found', 'conflict', 'validation_failed'] },
    schema: {
      operationId: 'deleteCompany',
      tags,
      summary: 'Deletes a disabled company with all that is its own, for good (operators).',
      description:
        'First its data key, so that its sealed documents are read by nobody any more, also in backups; then its files, users, ' +
        'dispatches, documents, settings, templates, credits, ledger and audit log, and the company itself. It goes on by itself, also ' +
        'after a restart, and ends some minutes later with a receipt. What vendors, receivers and providers hold stays with them. It ' +
        'cannot be taken back, and is refused while dispatches are under way.',
      body: DeletionBody,
      response: { 202: DeletionView }
    }
  }, async (request, reply) => {
    const { params: { id }, body } = request
    return reply.code(202).send(await deletions.begin(auditAuthorOf(request), integerIn(id) ?? nothing(id), body) ?? nothing(id))
  })
  done()
}

function nothing (id: string): never {
  throw resourceNotFound('company', id)
}
