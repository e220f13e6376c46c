import { type Actor, requireService } from '@dispatch/accounts'
import type { JsonObject } from '@dispatch/common'
import { AnyJsonObject, CheckView, ChoiceBody, ConfigurationBody, ConfigurationView, DispatchError, DryRunView, type ErrorWord,
  type ListedProvider, MyConfig, Nothing, refusal, type Role, SuggestionsBody, SuggestionsView } from '@dispatch/contract'
import { type ConfigurationService, type CredentialCheck, type Owner, type Pipeline, requireConfigurable,
  type Suggestions } from '@dispatch/core'
import { type Host, offeredTo } from '@dispatch/host'
import { isServiceName, providedNames, type ServiceName, services } from '@dispatch/services'
import type { FastifyPluginAsyncTypebox, FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { auditAuthorOf } from './audit-author.ts'
import { codeIn } from './path-parameters.ts'

const Removal = Type.Object({
  force: Type.Optional(Type.Boolean({ description: 'Removes it also where the vendor cannot be asked to end what is registered there.' }))
}, { additionalProperties: false })

/** The errors of a request during which a vendor may be asked. */
function registering (words: readonly ErrorWord[]): ErrorWord[] {
  return [...words, 'conflict', 'authentication_error', 'provider_error', 'provider_unavailable', 'outcome_unknown']
}

type Needs = {
  configurationService: ConfigurationService
  credentialCheck: CredentialCheck
  suggestions: Suggestions
  pipeline: Pipeline
  host: Host
}
/** `scope`: whose choices and configurations. */
type ScopedNeeds = Needs & { scope: Scope }

/** Which provider does a service. */
const choiceRoutes: FastifyPluginCallbackTypebox<ScopedNeeds> = (app, { configurationService, scope }, done) => {
  const { choice, of, whose, ownerOf, permitted } = scope
  app.put<{ Params: { service: string }, Body: ChoiceBody }>(`${choice}/:service`, {
    config: { scopes: ['configuration'], ...permitted, errors: ['unknown_service', 'validation_failed', 'configuration_missing'] },
    schema: {
      operationId: `choose${of}Provider`,
      tags: ['Configuration'],
      summary: `Chooses the provider of a service for ${whose}, or a list of providers; null removes the choice.`,
      body: ChoiceBody,
      response: { 200: MyConfig }
    }
  }, async (request) => {
    const { actor, params, body } = request
    const service = serviceIn(params.service)
    const owner = ownerOf(actor)
    requireService(actor, service)
    await configurationService.choose(owner, service, listIn(body), auditAuthorOf(request))
    return configurationService.mine(actor)
  })
  done()
}

/** The settings with which a provider does it. */
const settingsRoutes: FastifyPluginCallbackTypebox<ScopedNeeds> = (app, { configurationService, suggestions, host, scope }, done) => {
  const { provider, of, whose, ownerOf, permitted } = scope
  app.put<{ Params: { code: string }, Body: { settings: JsonObject, sandbox?: boolean, useSandbox?: boolean } }>(`${provider}/:code`, {
    config: { scopes: ['configuration'], ...permitted, freshProof: 'in part', errors: registering(['not_found', 'validation_failed']) },
    schema: {
      operationId: `configure${of}Provider`,
      tags: ['Configuration'],
      summary:
        `Replaces a provider's configuration of ${whose}; a secret or the sandbox flag that is left out is kept; null deletes a secret, and is absence elsewhere.`,
      body: ConfigurationBody,
      response: { 200: ConfigurationView }
    }
  }, (request) => {
    const { actor, params, body, apiVersion: version } = request
    const [owner, code] = [ownerOf(actor), codeIn(params.code)]
    requireConfigurable(actor, offeredTo(host, actor.companyId), owner, code)
    return configurationService.configure(owner, code, { settings: body.settings, version, ...sandboxOf(body) }, {
      author: auditAuthorOf(request),
      prove: () => request.requireFreshProof()
    })
  })

  app.post<{ Params: { code: string }, Body: { settings?: JsonObject, sandbox?: boolean } }>(`${provider}/:code/suggestions`, {
    config: { scopes: ['configuration'], ...permitted, limit: 'dispatch', errors: ['not_found', 'validation_failed'] },
    schema: {
      operationId: `suggest${of}ProviderSettings`,
      tags: ['Configuration'],
      summary: `Asks the vendor which values the settings of ${whose} may have, such as its accounts and templates; nothing is changed.`,
      body: SuggestionsBody,
      response: { 200: SuggestionsView }
    }
  }, ({ actor, params, body, apiVersion: version }) => {
    const [owner, code] = [ownerOf(actor), codeIn(params.code)]
    requireConfigurable(actor, offeredTo(host, actor.companyId), owner, code)
    return suggestions(owner, code, { ...body, version })
  })

  app.delete<{ Params: { code: string }, Querystring: Static<typeof Removal> }>(`${provider}/:code`, {
    config: { scopes: ['configuration'], ...permitted, errors: registering(['not_found']) },
    schema: {
      operationId: `delete${of}ProviderConfiguration`,
      tags: ['Configuration'],
      summary: `Removes a provider's configuration of ${whose}, and what is registered at the vendor for its events.`,
      querystring: Removal,
      response: { 204: Nothing }
    }
  }, async (request, reply) => {
    const { actor, params, query: { force = false } } = request
    const [owner, code] = [ownerOf(actor), codeIn(params.code)]
    requireConfigurable(actor, offeredTo(host, actor.companyId), owner, code)
    await configurationService.remove(owner, code, auditAuthorOf(request), { force })
    return reply.code(204).send()
  })
  done()
}

/** Whether a provider of the company works, without anything that counts. */
const trialRoutes: FastifyPluginCallbackTypebox<Needs> = (app, { credentialCheck, pipeline, host }, done) => {
  app.post<{ Params: { code: string } }>('/api/v1/company/providers/:code/check', {
    config: { scopes: ['configuration'], roles: ['admin'], limit: 'dispatch', errors: ['not_found'] },
    schema: {
      operationId: 'checkCompanyProvider',
      tags: ['Configuration'],
      summary: 'Asks the vendor whether the company\'s credentials work; nothing is sent that counts.',
      response: { 200: CheckView }
    }
  }, (request) => {
    const { actor, params } = request
    const [owner, code] = [{ companyId: actor.companyId, userId: null }, codeIn(params.code)]
    requireConfigurable(actor, offeredTo(host, actor.companyId), owner, code)
    return credentialCheck(owner, code, auditAuthorOf(request))
  })

  app.post<{ Params: { code: string }, Querystring: { service?: ServiceName }, Body: JsonObject }>(
    '/api/v1/company/providers/:code/dry-run',
    {
      config: {
        scopes: ['configuration'],
        roles: ['admin'],
        limit: 'dispatch',
        errors: ['not_found', 'template_not_found', 'expectation_failed', 'suppressed', 'validation_failed', 'configuration_missing']
      },
      schema: {
        operationId: 'dryRunCompanyProvider',
        tags: ['Configuration'],
        summary: 'Tells the requests that a dispatch would send through the provider; none is sent.',
        querystring: DryRunQuery,
        body: { ...AnyJsonObject, description: 'The body of POST /api/{service}.' },
        response: { 200: DryRunView }
      }
    },
    (request) => {
      const { actor, id: requestId, apiVersion: version, params, query, body } = request
      const code = codeIn(params.code)
      const service = query.service ?? onlyServiceOf(offeredTo(host, actor.companyId), code)
      return pipeline.dryRun({ actor, requestId, version, services: [service], body: { ...body, providerName: code } })
    }
  )
  done()
}

/** Choosing and configuring providers: for oneself, or as an admin for the company. */
export const configurationRoutes: FastifyPluginAsyncTypebox<Needs> = async (app, needs) => {
  const { configurationService } = needs
  app.get('/api/v1/my/config', {
    config: { scopes: ['configuration'], errors: [] },
    schema: {
      operationId: 'readMyConfiguration',
      tags: ['Configuration'],
      summary: 'Reads the choices and configurations of user and company, without secrets.',
      response: { 200: MyConfig }
    }
  }, ({ actor }) => configurationService.mine(actor))

  for (const scope of scopes) {
    await app.register(choiceRoutes, { ...needs, scope })
    await app.register(settingsRoutes, { ...needs, scope })
  }
  await app.register(trialRoutes, needs)
}

/** The chosen providers: a list, one, or none. */
function listIn ({ providerName = null, providers }: ChoiceBody): readonly ListedProvider[] {
  return providers ?? (providerName === null ? [] : [{ providerName }])
}

/** An upload comes as a form with its file. */
const rehearsed = providedNames.filter((name) => services[name].content !== 'upload')

const DryRunQuery = Type.Object({
  service: Type.Optional(Type.Enum([...rehearsed], { description: 'Needed where the provider offers several.' }))
}, { additionalProperties: false })

/** The one service of a provider. Throws `not_found` for no provider, and `validation_error` where there are several services or none. */
function onlyServiceOf (host: Host, code: string): ServiceName {
  const provider = host.find(code)
  if (provider === undefined) throw new DispatchError('not_found', `There is no provider "${code}" installed.`)
  const [service, ...others] = rehearsed.filter((name) => provider.manifest.services[name] !== undefined)
  if (service !== undefined && others.length === 0) return service
  const message = service === undefined
    ? `The provider "${code}" has no service whose dispatch is JSON.`
    : `The provider "${code}" offers ${[service, ...others].join(', ')}: name one.`
  throw refusal('validation_error', [{ path: '/query/service', code: 'required', message }])
}

type Scope = {
  choice: string
  provider: string
  of: 'My' | 'Company'
  whose: string
  ownerOf: (actor: Actor) => Owner
  /** Who may, where not everybody may. */
  permitted: { roles?: readonly Role[] }
}

const scopes: Scope[] = [
  {
    choice: '/api/v1/my/config',
    provider: '/api/v1/my/providers',
    of: 'My',
    whose: 'the user',
    ownerOf: ({ companyId, userId }) => ({ companyId, userId }),
    permitted: {}
  },
  {
    choice: '/api/v1/company/defaults',
    provider: '/api/v1/company/providers',
    of: 'Company',
    whose: 'the company (admins)',
    ownerOf: ({ companyId }) => ({ companyId, userId: null }),
    permitted: { roles: ['admin'] }
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
