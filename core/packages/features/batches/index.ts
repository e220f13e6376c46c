import { defineFeature, service } from '@dispatch/plugins/feature'
import { batchesPages } from './pages/pages.ts'
import { batchesRoutes } from './routes/batches.ts'
import { batches, createBatches } from './service/batches.ts'
import { workOnBatches } from './service/work.ts'
import { batchesHolder, rowsHolder } from './store/holder.ts'
import { fillBatches } from './store/isolation.ts'
import { batchFileUse } from './store/named-files.ts'
import { words as en } from './words.en.ts'
import { words as fr } from './words.fr.ts'

const sending = { scopes: ['send'], testable: true } as const
const reading = { scopes: ['read_own', 'read_all'] } as const

/** Many dispatches in one file: checked together, sent behind what is asked for singly. */
export default defineFeature({
  name: 'batches',
  needs: { ...service('accounts', 'config', 'database', 'jobs', 'log', 'network', 'newId', 'now', 'outbox', 'pipeline'), batches },
  provides: (provide) => [
    provide(batches, ({ database, jobs, log, network, newId, now }) => createBatches({ database, jobs, log, network, newId, now }))
  ],
  tables: { batches: 'company', batch_rows: 'company', batch_files: 'company' },
  migrations: {
    'batches/001-batches': () => import('./migrations/001-batches.ts'),
    'batches/002-held': () => import('./migrations/002-held.ts'),
    'batches/003-approval': () => import('./migrations/003-approval.ts'),
    'batches/004-files': () => import('./migrations/004-files.ts'),
    'batches/005-facts': () => import('./migrations/005-facts.ts')
  },
  holds: ({ database }) => [rowsHolder(database), batchesHolder(database)],
  namesFiles: ({ database }) => batchFileUse(database),
  routes: batchesRoutes,
  before: 'listDispatches',
  permissions: {
    createBatch: sending,
    listBatches: reading,
    readBatch: reading,
    downloadBatchResults: reading,
    pauseBatch: sending,
    resumeBatch: sending,
    cancelBatch: { ...sending, irreversible: true },
    retryBatch: sending
  },
  pages: batchesPages,
  menu: [{ section: 'batches', path: '/console/batches', label: { en: en.batches, fr: fr.batches }, after: 'send' }],
  work: ({ accounts, config, database, jobs, log, newId, outbox, pipeline }) =>
    workOnBatches({ accounts, config, database, jobs, log, newId, outbox, pipeline }),
  audit: {
    'batch.paused': { en: en.auditPaused, fr: fr.auditPaused },
    'batch.resumed': { en: en.auditResumed, fr: fr.auditResumed },
    'batch.cancelled': { en: en.auditCancelled, fr: fr.auditCancelled },
    'batch.retried': { en: en.auditRetried, fr: fr.auditRetried }
  },
  isolation: fillBatches
})
