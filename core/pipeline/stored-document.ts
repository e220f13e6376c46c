import type { DocumentHandle } from '@dispatch/common'
import type { StoredFile } from '@dispatch/files'
import type { NewDocument } from '../store/calls/document-row.ts'
import type { DocumentRow } from '../store/dispatch/dispatch-views.ts'

/** A stored document, and until when it is kept. */
export type StoredDocument = DocumentHandle & { pages?: number, expiresAt: Date }

/** The stored document of a row. */
export function storedDocument (row: DocumentRow): StoredDocument {
  return {
    id: row.document_id,
    filename: row.filename,
    contentType: row.content_type,
    size: Number(row.size),
    sha256: row.sha256,
    expiresAt: row.expires_at,
    ...(row.pages === null ? {} : { pages: row.pages })
  }
}

/** A document that was just made or received, as {@link storedDocument} reads it later. */
export function storedDocumentOfNew ({ documentId, filename, contentType, size, sha256, pages, expiresAt }: NewDocument): StoredDocument {
  return { id: documentId, filename, contentType, size, sha256, expiresAt, ...(pages === undefined ? {} : { pages }) }
}

/** What a provider may know of a document. */
export function documentHandleOf ({ id, filename, contentType, size, sha256 }: StoredDocument): DocumentHandle {
  return { id, filename, contentType, size, sha256 }
}

/** The file of a stored document, with the size and hash that it must have. */
export function storedFile ({ storage_key: key, size, sha256 }: DocumentRow): StoredFile {
  return { key, size: Number(size), sha256 }
}
