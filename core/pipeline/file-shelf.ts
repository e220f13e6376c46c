import type { DocumentHandle } from '@dispatch/common'
import type { StoredFile } from '@dispatch/files'

/** A file that a company has uploaded, and who did. `test`: with a test key. */
export type UploadedFile = { document: DocumentHandle, stored: StoredFile, userId: number, test: boolean }

/** The files that companies have uploaded for their dispatches. A feature brings it. */
export type FileShelf = {
  /** Undefined where the company has no such file, or has it no longer. */
  find: (companyId: number, fileId: string) => Promise<UploadedFile | undefined>
  /** Keeps files as long as the document of a dispatch that is sent at a time. Answers those that are there. */
  keep: (companyId: number, fileIds: readonly string[], sentAt: Date) => Promise<readonly string[]>
}
