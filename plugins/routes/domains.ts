import type { Domains } from '@dispatch/accounts'
import { CompanyDomains } from '@dispatch/contract'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { auditAuthorOf } from './audit-author.ts'
import { integerIn, resourceNotFound } from './path-parameters.ts'

type Named = { Params: { id: string } }

/** The domains of e-mail addresses that operators have given to companies. */
export const domainsRoutes: FastifyPluginCallbackTypebox<{ domains: Domains }> = (app, { domains }, done) => {
  app.get<Named>('/api/v1/companies/:id/domains', {
    config: { scopes: ['platform'], roles: ['operator'], errors: ['not_found'] },
    schema: {
      operationId: 'readCompanyDomains',
      tags: ['Platform'],
      summary: 'Reads the domains whose e-mail addresses lead to the single sign-on of a company (operators).',
      response: { 200: CompanyDomains }
    }
  }, async ({ params: { id } }) => foundCompany(id, await domains.read(integerIn(id) ?? 0)))

  app.put<Named & { Body: CompanyDomains }>('/api/v1/companies/:id/domains', {
    config: { freshProof: true, roles: ['operator'], errors: ['not_found', 'conflict'] },
    schema: {
      operationId: 'updateCompanyDomains',
      tags: ['Platform'],
      summary: 'Sets the domains whose e-mail addresses lead to the single sign-on of a company (operators).',
      description: 'Anybody who gives such an address at the sign-in is led to the provider, and so learns who that is.',
      body: CompanyDomains,
      response: { 200: CompanyDomains }
    }
  }, async (request) => {
    const { params: { id }, body } = request
    return foundCompany(id, await domains.set({ author: auditAuthorOf(request) }, integerIn(id) ?? 0, body))
  })
  done()
}

function foundCompany<Found> (id: string, found: Found | undefined): Found {
  if (found === undefined) throw resourceNotFound('company', id)
  return found
}
