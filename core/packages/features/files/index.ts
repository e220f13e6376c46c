import { defineFeature, service } from '@dispatch/plugins/feature'
import { filesPages } from './pages/files.ts'
import { filesRoutes } from './routes/files.ts'
import { createUploadedFiles, uploadedFiles } from './service/files.ts'
import { filesHolder } from './service/holder.ts'
import { createScan } from './service/scan.ts'
import { sweepFiles } from './service/sweep.ts'
import { fillFiles } from './store/files.ts'
import { words as en } from './words.en.ts'
import { words as fr } from './words.fr.ts'

const sending = { scopes: ['send'], testable: true } as const

/** Files that companies upload for their dispatches. */
export default defineFeature({
  name: 'files',
  needs: { ...service('config', 'database', 'files', 'fileUses', 'log', 'now', 'receive'), uploadedFiles },
  provides: (provide) => [
    provide(uploadedFiles,
      ({ config: { filesQuota: quota, scan }, database, files, fileUses: uses, log, now, receive }) =>
        createUploadedFiles({ database, files, uses, log, now, receive, quota, scan: scan === undefined ? undefined : createScan(scan) }))
  ],
  tables: { files: 'company' },
  migrations: { 'files/001-files': () => import('./migrations/001-files.ts') },
  shelf: (given) => given.uploadedFiles,
  holds: ({ database, files, now }) => [filesHolder({ database, files, now })],
  routes: filesRoutes,
  permissions: { listFiles: sending, readFile: sending, removeFile: sending, uploadFile: sending },
  pages: filesPages,
  menu: [{
    section: 'files',
    path: '/console/files',
    label: { en: en.files, fr: fr.files },
    after: 'contents',
    roles: ['admin', 'member']
  }],
  work: sweepFiles,
  isolation: fillFiles
})
