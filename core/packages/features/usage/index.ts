import { defineFeature, service } from '@dispatch/plugins/feature'
import { lastWeek } from './pages/home.ts'
import { pages } from './pages/pages.ts'
import { routes } from './routes/routes.ts'
import { budgets, createBudgets, workOnBudgets } from './service/budgets.ts'
import { createPrices, prices } from './service/prices.ts'
import { createUsage, usage, workOnUsage } from './service/usage.ts'
import { fillUsage } from './store/isolation.ts'
import { words as en } from './words.en.ts'
import { words as fr } from './words.fr.ts'

const reading = { scopes: ['read_all'], everyService: true } as const
const changing = { roles: ['admin'], scopes: ['configuration'], everyService: true } as const

/** What companies send, and what became of it: counted by the hour. What it has cost, and how much may be used in a month. */
export default defineFeature({
  name: 'usage',
  needs: { ...service('config', 'database', 'linkMail', 'log', 'newId', 'now', 'outbox'), usage, prices, budgets },
  provides: (provide) => [
    provide(usage, ({ config: { retentionDays }, database }) => createUsage({ database, retentionDays })),
    provide(prices, ({ database }) => createPrices(database)),
    provide(budgets,
      ({ config: { publicUrl }, database, linkMail, log, newId, now, outbox }) =>
        createBudgets({ database, linkMail, log, newId, now, outbox, publicUrl }))
  ],
  tables: { usage_hours: 'company', usage_prices: 'company', usage_marks: 'service' },
  migrations: {
    'usage/001-usage': () => import('./migrations/001-usage.ts'),
    'usage/002-prices': () => import('./migrations/002-prices.ts')
  },
  routes,
  before: 'listProviders',
  permissions: {
    readUsage: reading,
    exportUsage: reading,
    readUsagePrices: reading,
    updateUsagePrices: changing,
    listBudgets: reading,
    addBudget: changing,
    changeBudget: changing,
    removeBudget: changing
  },
  pages,
  parts: { home: lastWeek },
  menu: [{ section: 'usage', path: '/console/usage', label: { en: en.usage, fr: fr.usage }, after: 'dispatches' }],
  audit: {
    'usage_prices.changed': { en: en.auditPricesChanged, fr: fr.auditPricesChanged },
    'budget.added': { en: en.auditBudgetAdded, fr: fr.auditBudgetAdded },
    'budget.changed': { en: en.auditBudgetChanged, fr: fr.auditBudgetChanged },
    'budget.removed': { en: en.auditBudgetRemoved, fr: fr.auditBudgetRemoved }
  },
  work ({ log, usage: counted, budgets: service }) {
    const work = new AsyncDisposableStack()
    work.use(workOnUsage(counted, log))
    work.use(workOnBudgets(service, log))
    return work
  },
  isolation: fillUsage
})
