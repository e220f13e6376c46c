import type { Actor } from '@dispatch/accounts'
import { GuideLanguage, GuideView, isSince, NewPublisher, page, ProcessView, ProviderView, type Version } from '@dispatch/contract'
import type { ProcessState, ProviderAdministration } from '@dispatch/core'
import { type Breakers, type Host, type Manifest, offeredTo, type ProviderEntry, readGuide, settingsSchemaIn } from '@dispatch/host'
import { providedNames } from '@dispatch/services'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { basename } from 'node:path'
import { type Static, Type } from 'typebox'
import { supportOf } from '../support-page/support.ts'
import { auditAuthorOf } from './audit-author.ts'
import { codeIn, resourceNotFound } from './path-parameters.ts'
import { requireSince } from './since.ts'

type Options = { host: Host, breakers: Breakers, administration: ProviderAdministration }

const ReloadView = Type.Object({
  data: Type.Array(ProviderView),
  nextCursor: Type.Null(),
  processes: Type.Array(ProcessView, { description: 'Those that did not converge within 2 seconds among them.' })
}, { title: 'Reload' })

const ListQuery = Type.Object({
  schemas: Type.Optional(Type.Boolean({
    default: true,
    description: 'false leaves out `settings` and `requestSettings`, which are three quarters of the answer.'
  }))
}, { additionalProperties: false })

const GuideQuery = Type.Object({
  language: Type.Optional(Type.Unsafe<GuideLanguage>({
    ...GuideLanguage,
    description: '`fr`: how it is set up alone, where whoever publishes the provider has written that; since version 1.1.0.'
  }))
}, { additionalProperties: false })

/** Lists the installed providers; for operators: reloads them in all processes, and gives a code to another publisher. */
export const providersRoutes: FastifyPluginCallbackTypebox<Options> = (app, { host, breakers, administration }, done) => {
  function listFor (actor: Actor, version: Version, schemas = true): ProviderView[] {
    const isOperator = actor.role === 'operator'
    const visible = isOperator ? host : offeredTo(host, actor.companyId)
    return viewsOf(visible.entries(), { failing: breakers.failingFor(actor), isOperator, version, schemas })
  }

  app.get('/api/v1/providers', {
    config: { scopes: 'any', errors: [] },
    schema: {
      operationId: 'listProviders',
      tags: ['Providers'],
      summary: 'Lists the installed providers: what each can do, its settings and its health.',
      querystring: ListQuery,
      response: { 200: page(ProviderView) }
    }
  }, ({ actor, apiVersion, query: { schemas } }) => ({ data: listFor(actor, apiVersion, schemas), nextCursor: null }))

  app.get<{ Params: { code: string }, Querystring: Static<typeof GuideQuery> }>('/api/v1/providers/:code/guide', {
    config: { scopes: 'any', errors: ['validation_error', 'not_found'] },
    schema: {
      operationId: 'readProviderGuide',
      tags: ['Providers'],
      summary: 'Reads the page of an installed provider for those who set it up: its README.md, in Markdown.',
      querystring: GuideQuery,
      response: { 200: GuideView }
    }
  }, async ({ actor: { companyId, role }, apiVersion, params, query: { language } }) => {
    requireSince('1.1.0', apiVersion, '/query/language', language)
    const code = codeIn(params.code)
    const provider = (role === 'operator' ? host : offeredTo(host, companyId)).find(code)
    const guide = provider && await readGuide(provider, language)
    if (guide === undefined) throw resourceNotFound(provider === undefined ? 'provider' : 'guide of', code)
    return { code, ...guide }
  })

  app.get('/api/v1/providers/processes', {
    config: { scopes: ['platform'], roles: ['operator'], errors: [] },
    schema: {
      operationId: 'listProviderProcesses',
      tags: ['Providers'],
      summary: 'Lists the processes of the service, and which providers each of them runs (operators).',
      response: { 200: page(ProcessView) }
    }
  }, async () => ({ data: (await administration.processes()).map(processView), nextCursor: null }))

  app.post('/api/v1/providers/reload', {
    config: { scopes: ['platform'], roles: ['operator'], errors: [] },
    schema: {
      operationId: 'reloadProviders',
      tags: ['Providers'],
      summary: 'Reads the provider directories again, in every process (operators). Running dispatches finish with their version.',
      response: { 200: ReloadView }
    }
  }, async (request) => {
    const { actor, apiVersion } = request
    const processes = (await administration.reload(auditAuthorOf(request))).map(processView)
    return { data: listFor(actor, apiVersion), nextCursor: null, processes }
  })

  app.put('/api/v1/providers/:code/publisher', {
    config: { scopes: ['platform'], roles: ['operator'], errors: ['validation_error', 'not_found'] },
    schema: {
      operationId: 'acceptPublisher',
      tags: ['Providers'],
      summary:
        'Gives a provider code, and the secrets that companies have stored for it, to another publisher (operators). Every process ' +
        'reloads its providers.',
      params: Type.Object({ code: Type.String({ description: 'The code of the provider.' }) }),
      body: NewPublisher,
      response: { 200: ReloadView }
    }
  }, async (request) => {
    const { actor, apiVersion, params: { code }, body: { packageName, author = null } } = request
    const processes = (await administration.accept(codeIn(code), { packageName, author }, auditAuthorOf(request))).map(processView)
    return { data: listFor(actor, apiVersion), nextCursor: null, processes }
  })
  done()
}

function processView ({ machine, pid, converged, providers }: ProcessState): ProcessView {
  return { machine, pid, converged, providers }
}

/**
 * `failing`: the providers whose circuit breaker holds back calls of the reader, with the settings of the company or the reader's own.
 * `schemas`: with the schemas of the settings.
 */
type Reader = { failing: ReturnType<Breakers['failingFor']>, isOperator: boolean, version: Version, schemas: boolean }

/** The entries as they are in a version of the API. Only operators are told why a folder is refused: paths and values stand in it. */
function viewsOf (all: readonly ProviderEntry[], reader: Reader): ProviderView[] {
  return all.filter((entry) => entry.state === 'refused' || isSince(entry.manifest.since, reader.version)).map((entry) =>
    viewOf(entry, reader)
  )
}

function viewOf (entry: ProviderEntry, { failing, isOperator, version: requested, schemas }: Reader): ProviderView {
  const folder = basename(entry.folder)
  if (entry.state === 'refused') {
    const { code, reason, place, notice = 'It could not be loaded; the operator of the service can see why.' } = entry
    return {
      state: 'refused',
      folder,
      ...(code === undefined ? {} : { code }),
      health: isOperator
        ? { state: 'refused', reason, ...(place === undefined ? {} : { place }) }
        : { state: 'refused', reason: notice }
    }
  }
  const { code, name, version, docs, hosts, sandbox, settings, requestSettings, suggestions } = entry.manifest
  return {
    state: 'installed',
    folder,
    code,
    name,
    version,
    ...(docs === undefined ? {} : { docs }),
    hosts,
    ...(sandbox === undefined ? {} : { sandbox: sandbox.kind }),
    services: servicesOf(entry.manifest),
    ...(schemas ? { settings: settingsSchemaIn(settings, requested), requestSettings: settingsSchemaIn(requestSettings, requested) } : {}),
    ...(schemas && suggestions !== undefined && isSince('1.1.0', requested) ? { suggestions } : {}),
    health: healthOf(failing.get(code))
  }
}

function healthOf (failing: 'company' | 'user' | undefined): ProviderView['health'] {
  if (failing === undefined) return { state: 'ok' }
  const whose = failing === 'user' ? 'your own settings' : 'the settings of the company'
  return { state: 'failing', reason: `With ${whose}, the vendor has failed several times in a row; no calls are made for a while.` }
}

function servicesOf (manifest: Manifest): NonNullable<ProviderView['services']> {
  return Object.fromEntries(providedNames.flatMap((name) => {
    const support = supportOf(manifest, name)
    return support === undefined ? [] : [[name, support]]
  }))
}
