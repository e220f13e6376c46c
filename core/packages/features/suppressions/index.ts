import { defineFeature, ports, service } from '@dispatch/plugins/feature'
import { pages } from './pages/pages.ts'
import { routes } from './routes/routes.ts'
import { createAddressHashes } from './service/address-hashes.ts'
import { createSuppressions, suppressions } from './service/suppressions.ts'
import { suppressionsHolder } from './store/holder.ts'
import { fillSuppressions } from './store/suppressions.ts'
import { words as en } from './words.en.ts'
import { words as fr } from './words.fr.ts'

const reading = { scopes: ['read_all'] } as const
const changing = { roles: ['admin'], scopes: ['configuration'] } as const

/** To whom companies send nothing: mail to them came back, they complained or unsubscribed, or the company wants it so. */
export default defineFeature({
  name: 'suppressions',
  needs: { ...service('config', 'database', 'freshness', 'linkKey', 'newId', 'now'), templates: ports.templates, suppressions },
  provides: (provide) => [
    provide(suppressions,
      ({ config: { publicUrl }, database, freshness, linkKey, newId, now, templates }) =>
        createSuppressions({ database, freshness, templates, linkKey, publicUrl, newId, now }))
  ],
  tables: { suppressions: 'company', suppressed_channels: 'company', transactional_templates: 'company' },
  migrations: {
    'suppressions/001-suppressions': () => import('./migrations/001-suppressions.ts'),
    'suppressions/002-channels': () => import('./migrations/002-channels.ts')
  },
  recipients: (given) => given.suppressions,
  holds: ({ database, linkKey }) => [suppressionsHolder(database, createAddressHashes(linkKey))],
  routes,
  before: 'listProviders',
  permissions: {
    listSuppressions: reading,
    readSuppression: reading,
    exportSuppressions: reading,
    listTransactionalTemplates: reading,
    addSuppression: changing,
    importSuppressions: changing,
    removeSuppression: changing,
    markTransactional: changing,
    showUnsubscription: { public: true },
    unsubscribe: { public: true }
  },
  pages,
  menu: [{
    section: 'suppressions',
    path: '/console/suppressions',
    label: { en: en.suppressions, fr: fr.suppressions },
    after: 'contents',
    roles: ['admin', 'member']
  }],
  audit: {
    'suppression.added': { en: en.auditAdded, fr: fr.auditAdded },
    'suppression.imported': { en: en.auditImported, fr: fr.auditImported },
    'suppression.removed': { en: en.auditRemoved, fr: fr.auditRemoved },
    'suppression.transactional': { en: en.auditTransactional, fr: fr.auditTransactional }
  },
  isolation: fillSuppressions
})
