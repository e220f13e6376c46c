import { defineFeature, service } from '@dispatch/plugins/feature'
import { pages } from './pages/pages.ts'
import { routes } from './routes/routes.ts'
import { createUsage, usage, workOnUsage } from './service/usage.ts'
import { fillUsage } from './store/isolation.ts'
import { words as en } from './words.en.ts'
import { words as fr } from './words.fr.ts'

const reading = { scopes: ['read_all'], everyService: true } as const

/** What companies send, and what became of it: counted by the hour, beside requests. */
export default defineFeature({
  name: 'usage',
  needs: { ...service('config', 'database', 'log'), usage },
  provides: (provide) => [provide(usage, ({ config: { retentionDays }, database }) => createUsage({ database, retentionDays }))],
  tables: { usage_hours: 'company', usage_marks: 'service' },
  migrations: { 'usage/001-usage': () => import('./migrations/001-usage.ts') },
  routes,
  before: 'listProviders',
  permissions: { readUsage: reading, exportUsage: reading },
  pages,
  menu: [{ section: 'usage', path: '/console/usage', label: { en: en.usage, fr: fr.usage }, after: 'dispatches' }],
  work: ({ log, usage: counted }) => workOnUsage(counted, log),
  isolation: fillUsage
})
