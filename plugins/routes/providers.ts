import { type Breakers, type Host, isSince, type Manifest, page, providedNames, type ProviderEntry, ProviderView, type ReloadProviders,
  settingsSchemaIn, type Version } from '@dispatch/core'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { basename } from 'node:path'
import { supportOf } from '../support-page/support.ts'
import { auditAuthorOf } from './audit-author.ts'

/** Lists the installed providers, and reloads their directories. */
export const providersRoutes: FastifyPluginCallbackTypebox<{ host: Host, breakers: Breakers, reload: ReloadProviders }> = (
  app,
  { host, breakers, reload },
  done
) => {
  const isFailing = (companyId: number): IsFailing => (code) => breakers.state(companyId, code) !== 'closed'

  app.get('/api/v1/providers', {
    config: { errors: [] },
    schema: {
      operationId: 'listProviders',
      tags: ['Providers'],
      summary: 'Lists the installed providers: what each can do, its settings and its health.',
      response: { 200: page(ProviderView) }
    }
  }, ({ actor, apiVersion }) => ({ data: viewsOf(host.entries(), isFailing(actor.companyId), apiVersion), nextCursor: null }))

  app.post('/api/v1/providers/reload', {
    config: { roles: ['operator'], errors: [] },
    schema: {
      operationId: 'reloadProviders',
      tags: ['Providers'],
      summary: 'Reads the provider directories again (operators). Dispatches under way finish on what they began with.',
      response: { 200: page(ProviderView) }
    }
  }, async (request) => {
    const { actor, apiVersion } = request
    const entries = await reload(auditAuthorOf(request))
    return { data: viewsOf(entries, isFailing(actor.companyId), apiVersion), nextCursor: null }
  })
  done()
}

/** Whether the circuit breaker of a provider holds back its calls. */
type IsFailing = (code: string) => boolean

/** The entries as they are in a version of the API, without the server's paths. */
function viewsOf (all: readonly ProviderEntry[], isFailing: IsFailing, version: Version): ProviderView[] {
  const entries = all.filter((entry) => entry.state === 'refused' || isSince(entry.manifest.since, version))
  const folders = entries.map((entry) => entry.folder)
  const pathless = (reason: string): string => folders.reduce((text, folder) => text.replaceAll(folder, basename(folder)), reason)
  return entries.map((entry) => viewOf(entry, { pathless, isFailing, version }))
}

function viewOf (
  entry: ProviderEntry,
  { pathless, isFailing, version: asked }: { pathless: (reason: string) => string, isFailing: IsFailing, version: Version }
): ProviderView {
  const folder = basename(entry.folder)
  if (entry.state === 'refused') {
    return {
      state: 'refused',
      folder,
      ...(entry.code === undefined ? {} : { code: entry.code }),
      health: { state: 'refused', reason: pathless(entry.reason) }
    }
  }
  const { code, name, version, docs, settings, requestSettings } = entry.manifest
  return {
    state: 'installed',
    folder,
    code,
    name,
    version,
    ...(docs === undefined ? {} : { docs }),
    services: servicesOf(entry.manifest),
    settings: settingsSchemaIn(settings, asked),
    requestSettings: settingsSchemaIn(requestSettings, asked),
    health: isFailing(code)
      ? { state: 'failing', reason: 'The vendor failed again and again; its calls are held back for a while.' }
      : { state: 'ok' }
  }
}

function servicesOf (manifest: Manifest): NonNullable<ProviderView['services']> {
  return Object.fromEntries(providedNames.flatMap((name) => {
    const support = supportOf(manifest, name)
    return support === undefined ? [] : [[name, support]]
  }))
}
