import { createDocumentLinks, linkOf } from '@dispatch/accounts'
import { createDownloads, documentFiles, receiveFile } from '@dispatch/core'
import { createRenderer, createTemplateWorkers } from '@dispatch/documents'
import { createDataKeys } from '@dispatch/tables'
import { createDocumentSpool } from '@dispatch/vendor-io'
import { join } from 'node:path'
import { openKeysPlace } from '../config/data-keys.ts'
import { openFiles } from '../config/files.ts'
import type { Documents, Factories } from './dependencies.ts'

/** Creates documents and their files. */
export const documents: Factories<keyof Documents> = {
  renderer: () => createRenderer(),
  templateWorkers: () => createTemplateWorkers(),
  dataKeys (get) {
    const place = openKeysPlace(get('config'), get('log'))
    return place && createDataKeys({ place, keyring: get('keyring'), database: get('database'), log: get('log') })
  },
  files: (get) => documentFiles(openFiles(get('config'), { keys: get('dataKeys'), log: get('log') })),
  documentSpool: (get) => createDocumentSpool({ folder: join(get('config').dataDirectory, 'spool'), newId: get('newId') }),
  receive: (get) => (companyId, file) => receiveFile({ files: get('files'), newId: get('newId'), now: get('now') }, companyId, file),
  documentLinks: (get) => createDocumentLinks({ key: get('linkKey'), now: get('now') }),
  downloads: (get) => createDownloads({ database: get('database'), files: get('files'), links: get('documentLinks'), now: get('now') }),
  documentUrl: (get) => ({ id, expiresAt }) => linkOf(get('config').publicUrl, get('documentLinks').sign(id, expiresAt))
}
