import { defineFeature, service } from '@dispatch/plugins/feature'
import { companyDeletionLink, deletionPages } from './pages/pages.ts'
import { deletionRoutes } from './routes/deletions.ts'
import { createDeletions, deletions } from './service/deletions.ts'
import { workOnDeletions } from './service/work.ts'
import { words as en } from './words.en.ts'
import { words as fr } from './words.fr.ts'

const reading = { roles: ['operator'], scopes: ['platform'] } as const

/** Companies that leave for good: their keys, files and rows are deleted, with a receipt. */
export default defineFeature({
  name: 'company-deletions',
  needs: { ...service('database', 'dataKeys', 'dispatchRows', 'files', 'log', 'newId', 'now'), deletions },
  provides: (provide) => [provide(deletions, ({ database, now }) => createDeletions({ database, now }))],
  tables: { company_deletions: 'service' },
  migrations: { 'company-deletions/001-deletions': () => import('./migrations/001-deletions.ts') },
  routes: deletionRoutes,
  before: 'listProviders',
  permissions: {
    listCompanyDeletions: reading,
    readCompanyDeletion: reading,
    deleteCompany: { roles: ['operator'], freshProof: true, irreversible: true }
  },
  pages: deletionPages,
  parts: { platformCompany: companyDeletionLink },
  menu: [{
    section: 'company-deletions',
    path: '/console/company-deletions',
    label: { en: en.deletions, fr: fr.deletions },
    after: 'companies',
    roles: ['operator']
  }],
  audit: {
    'company.deletion_started': { en: en.auditStarted, fr: fr.auditStarted },
    'company.deleted': { en: en.auditDeleted, fr: fr.auditDeleted }
  },
  work: workOnDeletions
})
