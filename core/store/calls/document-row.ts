/** `size` in bytes; `sha256` in lowercase hexadecimal. */
export type NewDocument = {
  documentId: string
  filename: string
  contentType: string
  size: number
  sha256: string
  pages?: number
  storageKey: string
  expiresAt: Date
}

/** A document as the functions of the database take it. */
export function documentRow (document: NewDocument) {
  return {
    document_id: document.documentId,
    filename: document.filename,
    content_type: document.contentType,
    size: document.size,
    sha256: document.sha256,
    pages: document.pages,
    storage_key: document.storageKey,
    expires_at: document.expiresAt
  }
}
