import { coreHolders, dispatchHolder } from '@dispatch/core'
import { defineFeature, service } from '@dispatch/plugins/feature'
import { privacyPages } from './pages/pages.ts'
import { retentionLink } from './pages/retention.ts'
import { routes } from './routes/routes.ts'
import { createErasures, erasures } from './service/erasures.ts'
import { personHolders } from './service/person-holders.ts'
import { createRetentions, retentions } from './service/retention.ts'
import { workOnErasures } from './service/work.ts'
import { fillErasures } from './store/erasures.ts'
import { words as en } from './words.en.ts'
import { words as fr } from './words.fr.ts'

const reading = { roles: ['admin'], scopes: ['read_all'], everyService: true } as const
const erasing = { roles: ['admin'], scopes: ['configuration'], everyService: true, irreversible: true } as const

/** What companies hold about persons: erased for good, with a receipt, or handed over; and for how long they keep what they send. */
export default defineFeature({
  name: 'privacy',
  needs: {
    ...service('config', 'database', 'dispatchRows', 'files', 'holders', 'keyring', 'linkKey', 'log', 'newId', 'now', 'pipeline'),
    personHolders,
    erasures,
    retentions
  },
  provides: (provide) => [
    // Files and rows of batches are found by what dispatches say of them; what is told of these is emptied after them.
    provide(personHolders, ({ database, dispatchRows, files, holders, pipeline }) => [
      ...holders,
      dispatchHolder({ database, files, dispatchRows, pipeline }),
      ...coreHolders(database)
    ]),
    provide(erasures,
      ({ database, keyring, linkKey, newId, now, personHolders: known }) =>
        createErasures({ database, keyring, linkKey, holders: known, newId, now })),
    provide(retentions, ({ config: { retentionDays: operatorDays }, database, now }) => createRetentions({ database, operatorDays, now }))
  ],
  tables: { erasures: 'company' },
  migrations: { 'privacy/001-erasures': () => import('./migrations/001-erasures.ts') },
  routes,
  before: 'listProviders',
  permissions: {
    createErasure: erasing,
    beginErasure: erasing,
    listErasures: reading,
    readErasure: reading,
    readErasureReceipt: reading,
    exportPerson: reading,
    readRetention: reading,
    setRetention: erasing
  },
  pages: privacyPages,
  parts: { company: retentionLink },
  menu: [{
    section: 'privacy',
    path: '/console/privacy',
    label: { en: en.privacy, fr: fr.privacy },
    after: 'company',
    roles: ['admin']
  }],
  audit: {
    'erasure.counted': { en: en.auditErasureCounted, fr: fr.auditErasureCounted },
    'erasure.started': { en: en.auditErasureStarted, fr: fr.auditErasureStarted },
    'erasure.finished': { en: en.auditErasureFinished, fr: fr.auditErasureFinished },
    'person.exported': { en: en.auditPersonExported, fr: fr.auditPersonExported },
    'retention.changed': { en: en.auditRetentionChanged, fr: fr.auditRetentionChanged }
  },
  work: ({ database, keyring, log, newId, now, personHolders: holders }) => workOnErasures({ database, keyring, holders, log, newId, now }),
  isolation: fillErasures
})
