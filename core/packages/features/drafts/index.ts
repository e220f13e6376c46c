import { defineFeature, service } from '@dispatch/plugins/feature'
import { draftsPages } from './pages/drafts.ts'
import { draftsRoutes } from './routes/drafts.ts'
import { createDrafts, drafts } from './service/drafts.ts'
import { sweepDrafts } from './service/sweep.ts'
import { draftFileUse, draftsHolder, fillDrafts } from './store/drafts.ts'
import { words as en } from './words.en.ts'
import { words as fr } from './words.fr.ts'

const own = { scopes: ['send'], testable: true } as const

/** Requests that people have begun to write, kept while they type. */
export default defineFeature({
  name: 'drafts',
  needs: { ...service('database', 'now', 'log'), drafts },
  provides: (provide) => [provide(drafts, ({ database, now }) => createDrafts({ database, now }))],
  tables: { drafts: 'company' },
  migrations: { 'drafts/001-drafts': () => import('./migrations/001-drafts.ts') },
  holds: ({ database }) => [draftsHolder(database)],
  namesFiles: ({ database }) => draftFileUse(database),
  routes: draftsRoutes,
  permissions: { listDrafts: own, createDraft: own, readDraft: own, writeDraft: own, deleteDraft: own },
  pages: draftsPages,
  menu: [{ section: 'drafts', path: '/console/drafts', label: { en: en.drafts, fr: fr.drafts }, after: 'send' }],
  work: sweepDrafts,
  isolation: fillDrafts
})
