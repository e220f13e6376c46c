import { basename } from 'node:path'
import { noteAudit, page, providedNames, ProviderView, requireRole, type Breakers, type Database, type Entry, type Host, type Manifest } from '@dispatch/core'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { authorOf } from './author.ts'
import { supportOf } from './support.ts'

/** The providers that are installed, and reading their directories again. */
export const providersRoutes: FastifyPluginCallbackTypebox<{ host: Host, breakers: Breakers, database: Database, now: () => Date }> = (app, { host, breakers, database, now }, done) => {
  const isFailing = (companyId: number): IsFailing => (code) => breakers.state(companyId, code) !== 'closed'

  app.get('/api/v1/providers', {
    config: { errors: [] },
    schema: { tags: ['Providers'], summary: 'Lists the installed providers: what each can do, its settings and its health.', response: { 200: page(ProviderView) } }
  }, ({ actor }) => ({ data: viewsOf(host.entries(), isFailing(actor.companyId)), nextCursor: null }))

  app.post('/api/v1/providers/reload', {
    config: { errors: [] },
    schema: { tags: ['Providers'], summary: 'Reads the provider directories again (operators). Dispatches under way finish on what they began with.', response: { 200: page(ProviderView) } }
  }, async (request) => {
    const { actor } = request
    requireRole(actor, 'operator')
    const entries = await host.reload()
    await database.company(actor.companyId, (queries) => noteAudit(queries, { companyId: actor.companyId, author: authorOf(request), action: 'providers.reloaded', object: { kind: 'providers', id: 'all' }, at: now() }))
    return { data: viewsOf(entries, isFailing(actor.companyId)), nextCursor: null }
  })
  done()
}

/** Whether a provider has failed so often that its calls are held back. */
type IsFailing = (code: string) => boolean

/** The entries without the server's paths. */
function viewsOf (entries: readonly Entry[], isFailing: IsFailing): ProviderView[] {
  const folders = entries.map((entry) => entry.folder)
  const pathless = (reason: string): string => folders.reduce((text, folder) => text.replaceAll(folder, basename(folder)), reason)
  return entries.map((entry) => viewOf(entry, pathless, isFailing))
}

function viewOf (entry: Entry, pathless: (reason: string) => string, isFailing: IsFailing): ProviderView {
  const folder = basename(entry.folder)
  if (entry.state === 'refused') {
    return { state: 'refused', folder, ...(entry.code === undefined ? {} : { code: entry.code }), health: { state: 'refused', reason: pathless(entry.reason) } }
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
    settings,
    requestSettings,
    health: isFailing(code) ? { state: 'failing', reason: 'The vendor failed again and again; its calls are held back for a while.' } : { state: 'ok' }
  }
}

function servicesOf (manifest: Manifest): NonNullable<ProviderView['services']> {
  return Object.fromEntries(providedNames.flatMap((name) => {
    const support = supportOf(manifest, name)
    return support === undefined ? [] : [[name, support]]
  }))
}
