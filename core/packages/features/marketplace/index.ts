import { defineFeature, service } from '@dispatch/plugins/feature'
import { pages } from './pages/pages.ts'
import { routes } from './routes/routes.ts'
import { pollCatalogs } from './service/poll-catalogs.ts'
import { words as en } from './words.en.ts'
import { words as fr } from './words.fr.ts'

const ofOperators = { roles: ['operator'], scopes: ['platform'] } as const
const ofReaders = { roles: ['admin', 'operator'], scopes: ['configuration', 'platform'] } as const

/** Adapters that are installed while the service runs, from packages and catalogs: what people see of them and do about them. */
export default defineFeature({
  name: 'marketplace',
  needs: service('marketplace', 'catalogPlaces', 'log', 'now'),
  routes,
  before: 'connectMyProvider',
  permissions: {
    listAdapters: ofReaders,
    readAdapter: ofReaders,
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
  work: pollCatalogs
})
