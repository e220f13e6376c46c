import type { CompanyAccounts, Users } from '@dispatch/accounts'
import { BalanceView, CompanyChanges, CompanyView, CreditsBody, IdempotencyHeaders, NewCompanyBody, page, PageQuery,
  UserView } from '@dispatch/contract'
import type { FastifyPluginAsyncTypebox, FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { auditAuthorOf } from './audit-author.ts'
import { idempotencyKeyOf } from './dispatch-route.ts'
import { pageOf } from './paging.ts'
import { integerIn, largestId, resourceNotFound } from './path-parameters.ts'

type Named = { Params: { id: string } }

type Needs = { companies: CompanyAccounts, users: Users }

/** Companies themselves. */
const companyRoutes: FastifyPluginCallbackTypebox<Needs> = (app, { companies }, done) => {
  app.get('/api/v1/companies', {
    config: { scopes: ['platform'], roles: ['operator'], errors: ['validation_error'] },
    schema: {
      operationId: 'listCompanies',
      tags: ['Platform'],
      summary: 'Lists all companies and their credits (operators).',
      querystring: PageQuery,
      response: { 200: page(CompanyView) }
    }
  }, async ({ query: { limit = 25, cursor } }) => {
    const found = await companies.list({
      limit: limit + 1,
      ...(cursor === undefined ? {} : { after: String(Math.min(Number(cursor), largestId)) })
    })
    return pageOf(found, limit, ({ id }) => id)
  })

  app.post('/api/v1/companies', {
    config: { freshProof: true, roles: ['operator'], errors: ['validation_failed'] },
    schema: {
      operationId: 'createCompany',
      tags: ['Platform'],
      summary: 'Creates a company with its first credits and its first admin (operators).',
      body: NewCompanyBody,
      response: { 201: CompanyView }
    }
  }, async (request, reply) => {
    return reply.code(201).send(await companies.create(auditAuthorOf(request), request.body))
  })

  app.get<Named>('/api/v1/companies/:id', {
    config: { scopes: ['platform'], roles: ['operator'], errors: ['not_found'] },
    schema: {
      operationId: 'readCompany',
      tags: ['Platform'],
      summary: 'Reads a company and its credits (operators).',
      response: { 200: CompanyView }
    }
  }, async ({ params }) => await companies.find(idIn(params)) ?? nothing(params))

  app.put<Named & { Body: CompanyChanges }>('/api/v1/companies/:id', {
    // A list of addresses decides who gets in; to disable a company must never wait for a password.
    config: {
      freshProof: ['addresses'],
      scopes: ['platform'],
      roles: ['operator'],
      errors: ['not_found', 'conflict', 'validation_failed']
    },
    schema: {
      operationId: 'updateCompany',
      tags: ['Platform'],
      summary: 'Renames, disables or enables a company, or lets one in again that its list of addresses has shut out (operators). All ' +
        'users of a disabled one are refused at once. `addresses` needs a person who has proved within five minutes who they are.',
      body: CompanyChanges,
      response: { 200: CompanyView }
    }
  }, async (request) => {
    const { params, body } = request
    return await companies.change(auditAuthorOf(request), idIn(params), body) ?? nothing(params)
  })
  done()
}

/** The users of a company. */
const userRoutes: FastifyPluginCallbackTypebox<Needs> = (app, { companies, users }, done) => {
  app.get<Named & { Querystring: PageQuery }>('/api/v1/companies/:id/users', {
    config: { scopes: ['platform'], roles: ['operator'], errors: ['validation_error', 'not_found'] },
    schema: {
      operationId: 'listCompanyUsers',
      tags: ['Platform'],
      summary: 'Lists the users of a company (operators).',
      querystring: PageQuery,
      response: { 200: page(UserView) }
    }
  }, async ({ actor, params, query: { limit = 25, cursor } }) => {
    const { id: companyId } = await companies.find(idIn(params)) ?? nothing(params)
    const after = cursor === undefined ? {} : { after: String(Math.min(Number(cursor), largestId)) }
    const found = await users.list({ ...actor, companyId }, { limit: limit + 1, ...after })
    return pageOf(found, limit, ({ id }) => id)
  })

  app.get<{ Params: { id: string, userId: string } }>('/api/v1/companies/:id/users/:userId', {
    config: { scopes: ['platform'], roles: ['operator'], errors: ['not_found'] },
    schema: {
      operationId: 'readCompanyUser',
      tags: ['Platform'],
      summary: 'Reads a user of a company (operators).',
      response: { 200: UserView }
    }
  }, async ({ actor, params }) => {
    const [companyId, userId] = [integerIn(params.id), integerIn(params.userId)]
    const found = companyId === undefined || userId === undefined ? undefined : await users.find({ ...actor, companyId }, userId)
    if (found === undefined) throw resourceNotFound('user', params.userId)
    return found
  })
  done()
}

/** The credits of a company. */
const creditRoutes: FastifyPluginCallbackTypebox<Needs> = (app, { companies }, done) => {
  app.post<Named & { Body: CreditsBody }>('/api/v1/companies/:id/credits', {
    config: {
      scopes: ['platform'],
      roles: ['operator'],
      irreversible: true,
      errors: ['not_found', 'conflict', 'idempotency_key_reused'],
      replayable: true
    },
    schema: {
      operationId: 'creditCompany',
      tags: ['Platform'],
      summary: 'Gives a company credits, or takes some back with a negative amount (operators).',
      description:
        'Credits that running dispatches hold cannot be taken. The ledger of the company shows the amount and the reason. With an ' +
        'idempotency key a repeat changes nothing, whenever it comes.',
      headers: IdempotencyHeaders,
      body: CreditsBody,
      response: { 200: BalanceView }
    }
  }, async (request, reply) => {
    const { params, body } = request
    const { replayed, ...balance } =
      await companies.credit(auditAuthorOf(request), idIn(params), { ...body, ...idempotencyKeyOf(request) }) ?? nothing(params)
    if (replayed) reply.header('idempotency-replayed', 'true')
    return balance
  })
  done()
}

/** The companies of the platform, for its operators. */
export const companiesRoutes: FastifyPluginAsyncTypebox<Needs> = async (app, needs) => {
  await app.register(companyRoutes, needs)
  await app.register(userRoutes, needs)
  await app.register(creditRoutes, needs)
}

function idIn (params: Named['Params']): number {
  return integerIn(params.id) ?? nothing(params)
}

function nothing ({ id }: Named['Params']): never {
  throw resourceNotFound('company', id)
}
