import { basename } from 'node:path'
import { page, ProviderView, requireRole, type Entry, type Host } from '@dispatch/core'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'

/** The providers that are installed, and reading their directories again. */
export const providersRoutes: FastifyPluginCallbackTypebox<{ host: Host }> = (app, { host }, done) => {
  app.get('/api/v1/providers', {
    config: { errors: [] },
    schema: { tags: ['Providers'], summary: 'Lists the installed providers: what each can do, its settings and its health.', response: { 200: page(ProviderView) } }
  }, () => ({ data: viewsOf(host.entries()), nextCursor: null }))

  app.post('/api/v1/providers/reload', {
    config: { errors: [] },
    schema: { tags: ['Providers'], summary: 'Reads the provider directories again (operators). Dispatches under way finish on what they began with.', response: { 200: page(ProviderView) } }
  }, async ({ actor }) => {
    requireRole(actor, 'operator')
    return { data: viewsOf(await host.reload()), nextCursor: null }
  })
  done()
}

/** The entries without the server's paths. */
function viewsOf (entries: readonly Entry[]): ProviderView[] {
  const folders = entries.map((entry) => entry.folder)
  const pathless = (reason: string): string => folders.reduce((text, folder) => text.replaceAll(folder, basename(folder)), reason)
  return entries.map((entry) => viewOf(entry, pathless))
}

function viewOf (entry: Entry, pathless: (reason: string) => string): ProviderView {
  const folder = basename(entry.folder)
  if (entry.state === 'refused') {
    return { state: 'refused', folder, ...(entry.code === undefined ? {} : { code: entry.code }), health: { state: 'refused', reason: pathless(entry.reason) } }
  }
  const { code, name, version, docs, services, settings, requestSettings } = entry.manifest
  return {
    state: 'installed',
    folder,
    code,
    name,
    version,
    ...(docs === undefined ? {} : { docs }),
    services: Object.fromEntries(Object.entries(services)),
    settings,
    requestSettings,
    health: { state: 'ok' }
  }
}
