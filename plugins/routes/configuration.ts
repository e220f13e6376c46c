import type { JsonObject } from '@dispatch/common'
import { type Actor, CheckView, ChoiceBody, ConfigurationBody, type ConfigurationService, ConfigurationView, type CredentialCheck,
  DispatchError, isServiceName, MyConfig, Nothing, type Owner, refusal, requireService, type Role, type ServiceName } from '@dispatch/core'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { auditAuthorOf } from './audit-author.ts'
import { codeIn } from './path-parameters.ts'

/** Choosing and configuring providers: for oneself, or as an admin for the company. */
export const configurationRoutes: FastifyPluginCallbackTypebox<{
  configurationService: ConfigurationService
  credentialCheck: CredentialCheck
}> = (app, { configurationService, credentialCheck }, done) => {
  app.get('/api/v1/my/config', {
    config: { errors: [] },
    schema: {
      operationId: 'readMyConfiguration',
      tags: ['Configuration'],
      summary: 'Reads the choices and configurations of user and company, without secrets.',
      response: { 200: MyConfig }
    }
  }, ({ actor }) => configurationService.mine(actor))

  for (const { choice, provider, of, whose, ownerOf, roles } of scopes) {
    const permitted = roles === undefined ? {} : { roles }
    app.put<{ Params: { service: string }, Body: { providerName: string | null } }>(`${choice}/:service`, {
      config: { ...permitted, errors: ['unknown_service', 'validation_failed', 'configuration_missing'] },
      schema: {
        operationId: `choose${of}Provider`,
        tags: ['Configuration'],
        summary: `Chooses the provider of a service for ${whose}; null removes the choice.`,
        body: ChoiceBody,
        response: { 200: MyConfig }
      }
    }, async (request) => {
      const { actor, params, body } = request
      const service = serviceIn(params.service)
      const owner = ownerOf(actor)
      // An admin chooses for those who may use the service.
      if (owner.userId !== null) requireService(actor, service)
      await configurationService.choose(owner, service, body.providerName, auditAuthorOf(request))
      return configurationService.mine(actor)
    })

    app.put<{ Params: { code: string }, Body: { settings: JsonObject, sandbox?: boolean, useSandbox?: boolean } }>(`${provider}/:code`, {
      config: { ...permitted, errors: ['not_found', 'validation_failed'] },
      schema: {
        operationId: `configure${of}Provider`,
        tags: ['Configuration'],
        summary: `Replaces a provider's configuration of ${whose}; a secret that is left out is kept, null deletes it.`,
        body: ConfigurationBody,
        response: { 200: ConfigurationView }
      }
    }, (request) => {
      const { actor, params, body, apiVersion: version } = request
      return configurationService.configure(ownerOf(actor), codeIn(params.code), { settings: body.settings, version, ...sandboxOf(body) },
        auditAuthorOf(request))
    })

    app.delete<{ Params: { code: string } }>(`${provider}/:code`, {
      config: { ...permitted, errors: ['not_found'] },
      schema: {
        operationId: `delete${of}ProviderConfiguration`,
        tags: ['Configuration'],
        summary: `Removes a provider's configuration of ${whose}.`,
        response: { 204: Nothing }
      }
    }, async (request, reply) => {
      await configurationService.remove(ownerOf(request.actor), codeIn(request.params.code), auditAuthorOf(request))
      return reply.code(204).send()
    })
  }

  app.post<{ Params: { code: string } }>('/api/v1/company/providers/:code/check', {
    config: { roles: ['admin'], limit: 'dispatch', errors: ['not_found'] },
    schema: {
      operationId: 'checkCompanyProvider',
      tags: ['Configuration'],
      summary: 'Asks the vendor whether the company\'s credentials work; nothing is sent that counts.',
      response: { 200: CheckView }
    }
  }, (request) => {
    const { actor: { companyId }, params: { code } } = request
    return credentialCheck({ companyId, userId: null }, codeIn(code), auditAuthorOf(request))
  })
  done()
}

type Scope = {
  choice: string
  provider: string
  of: 'My' | 'Company'
  whose: string
  ownerOf: (actor: Actor) => Owner
  roles?: readonly Role[]
}

const scopes: Scope[] = [
  {
    choice: '/api/v1/my/config',
    provider: '/api/v1/my/providers',
    of: 'My',
    whose: 'the user',
    ownerOf: ({ companyId, userId }) => ({ companyId, userId })
  },
  {
    choice: '/api/v1/company/defaults',
    provider: '/api/v1/company/providers',
    of: 'Company',
    whose: 'the company (admins)',
    ownerOf: ({ companyId }) => ({ companyId, userId: null }),
    roles: ['admin']
  }
]

function serviceIn (name: string): ServiceName {
  if (isServiceName(name)) return name
  throw new DispatchError('unknown_service', `There is no service "${name.slice(0, 60)}".`)
}

function sandboxOf ({ sandbox, useSandbox }: { sandbox?: boolean, useSandbox?: boolean }): { sandbox?: boolean } {
  if (sandbox !== undefined && useSandbox !== undefined && sandbox !== useSandbox) {
    throw refusal('validation_error', [{
      path: '/useSandbox',
      code: 'contradiction',
      message: 'It differs from "/sandbox"; give one of the two.'
    }])
  }
  const given = sandbox ?? useSandbox
  return given === undefined ? {} : { sandbox: given }
}
