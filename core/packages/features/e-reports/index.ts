import { defineFeature, service } from '@dispatch/plugins/feature'
import { pages } from './pages/pages.ts'
import { routes } from './routes/routes.ts'
import { createEReports, eReports, workOnReports } from './service/e-reports.ts'
import { fillReports } from './store/e-reports.ts'
import { draftsHolder } from './store/holder.ts'
import { words as en } from './words.en.ts'
import { words as fr } from './words.fr.ts'

const reading = { scopes: ['read_all'] } as const
const writing = { roles: ['admin'], scopes: ['send'], everyService: 'of keys' } as const

/** What French companies report to the tax authority beside their e-invoices: sales to consumers and abroad, payments. */
export default defineFeature({
  name: 'e-reports',
  needs: { ...service('config', 'configurations', 'database', 'log', 'newId', 'now', 'pipeline', 'receive'), eReports },
  provides: (provide) => [
    provide(eReports,
      ({ config: { retentionDays }, configurations, database, newId, now, pipeline, receive }) =>
        createEReports({ configurations, database, newId, now, pipeline, receive, retentionDays }))
  ],
  tables: { e_report_settings: 'company', e_reports: 'company' },
  migrations: {
    'e-reports/001-e-reports': () => import('./migrations/001-e-reports.ts'),
    'e-reports/002-outcomes': () => import('./migrations/002-outcomes.ts')
  },
  holds: ({ database }) => [draftsHolder(database)],
  routes,
  permissions: {
    readEReportSettings: reading,
    setEReportSettings: { roles: ['admin'], scopes: ['configuration'] },
    listEReports: reading,
    readEReport: reading,
    exportEReport: reading,
    makeEReport: writing,
    sendEReport: { ...writing, irreversible: true },
    removeEReport: writing
  },
  pages,
  work: (given) => workOnReports(given.eReports, given.log),
  menu: [{
    section: 'e-reports',
    path: '/console/e-reports',
    label: { en: en.eReports, fr: fr.eReports },
    after: 'invoices',
    roles: ['admin', 'member']
  }],
  audit: {
    'e_report.settings_changed': { en: en.auditEReportSettings, fr: fr.auditEReportSettings },
    'e_report.sent': { en: en.auditEReportSent, fr: fr.auditEReportSent },
    'e_report.removed': { en: en.auditEReportRemoved, fr: fr.auditEReportRemoved }
  },
  isolation: fillReports
})
