import { defineFeature, service } from '@dispatch/plugins/feature'
import { join } from 'node:path'
import { command } from './command.ts'
import { pages } from './pages/pages.ts'
import { routes } from './routes/routes.ts'
import { createAdapters } from './service/adapters.ts'
import { createCatalogs } from './service/catalogs.ts'
import { createMarketplace } from './service/marketplace.ts'
import { pollCatalogs } from './service/poll-catalogs.ts'
import { smoke } from './service/smoke.ts'
import { adapters, catalogs, marketplace } from './service/tokens.ts'
import { words as en } from './words.en.ts'
import { words as fr } from './words.fr.ts'

const ofOperators = { roles: ['operator'], scopes: ['platform'] } as const
const ofReaders = { roles: ['admin', 'operator'], scopes: ['configuration', 'platform'] } as const

/** Adapters: providers that are installed while the service runs, from packages and catalogs. */
export default defineFeature({
  name: 'marketplace',
  needs: {
    ...service('catalogLocations', 'config', 'database', 'keyring', 'log', 'network', 'now', 'providerSync', 'sandbox'),
    adapters,
    catalogs,
    marketplace
  },
  provides: (provide) => [
    provide(adapters,
      ({ config: { dataDirectory }, database, sandbox, log }) =>
        createAdapters({ folder: join(dataDirectory, 'adapters'), database, sandbox: sandbox.open, log })),
    provide(catalogs,
      ({ database, catalogLocations: locations, network: { transport }, now }) => createCatalogs({ database, locations, transport, now })),
    provide(marketplace, ({ database, keyring, log, adapters: { files, sandbox }, providerSync, catalogs }) =>
      createMarketplace({
        database,
        keyring,
        log,
        files,
        sandbox,
        follow: providerSync.reload,
        catalogs,
        smoke
      }))
  ],
  migrations: { 'marketplace/001-origins': () => import('./migrations/001-origins.ts') },
  tables: { adapter_packages: 'service', adapters: 'service', catalogs: 'service' },
  async providers ({ adapters }) {
    await adapters.sweep()
    await adapters.openAhead()
    return adapters
  },
  routes,
  before: 'connectMyProvider',
  permissions: {
    listAdapters: ofReaders,
    readAdapter: ofReaders,
    compareAdapters: ofReaders,
    readAdapterEffects: ofOperators,
    addAdapterPackage: ofOperators,
    refreshCatalogs: ofOperators,
    installAdapter: ofOperators,
    upgradeAdapter: ofOperators,
    enableAdapter: ofOperators,
    disableAdapter: ofOperators,
    rollBackAdapter: ofOperators,
    offerAdapter: ofOperators,
    removeAdapter: ofOperators
  },
  pages,
  menu: [{
    section: 'marketplace',
    path: '/console/marketplace',
    label: { en: en.marketplace, fr: fr.marketplace },
    after: 'providers',
    roles: ['admin', 'operator']
  }],
  audit: {
    'adapter.package_added': { en: 'Package of an adapter added', fr: 'Paquet d’un adaptateur ajouté' },
    'adapter.installed': { en: 'Adapter installed', fr: 'Adaptateur installé' },
    'adapter.upgraded': { en: 'Adapter upgraded', fr: 'Adaptateur mis à niveau' },
    'adapter.rolled_back': { en: 'Adapter rolled back', fr: 'Adaptateur ramené à sa version d’avant' },
    'adapter.enabled': { en: 'Adapter enabled', fr: 'Adaptateur activé' },
    'adapter.disabled': { en: 'Adapter disabled', fr: 'Adaptateur désactivé' },
    'adapter.offered': { en: 'Adapter offered to companies', fr: 'Adaptateur proposé à des sociétés' },
    'adapter.removed': { en: 'Adapter removed', fr: 'Adaptateur supprimé' },
    'adapter.revoked': { en: 'Adapter revoked by its catalog', fr: 'Adaptateur révoqué par son catalogue' },
    'adapter.revocation_lifted': { en: 'Revocation of an adapter lifted', fr: 'Révocation d’un adaptateur levée' }
  },
  work: pollCatalogs,
  command
})
