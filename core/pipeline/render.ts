import { hash } from 'node:crypto'
import type { NewDocument } from '../store/dispatches.ts'
import type { Parts } from './parts.ts'
import type { Run } from './run.ts'

/** How long a generated document is kept, in milliseconds: 30 days. */
const keptFor = 30 * 24 * 3600 * 1000

/** Makes the document of a run and stores its bytes. Throws a RenderError when the data cannot become one. */
export async function renderDocument ({ renderer, files, newId, now }: Pick<Parts, 'renderer' | 'files' | 'newId' | 'now'>, run: Run): Promise<NewDocument> {
  const { template, data, companyId } = run
  const time = now()
  const { bytes, contentType, pages } = await renderer.render({
    template: { id: template.id, version: template.version, digest: template.digest, source: template.source },
    data,
    format: 'pdf',
    now: time.toISOString()
  })
  const documentId = newId()
  const storageKey = `documents/${companyId}/${time.toISOString().slice(0, 10)}/${documentId}.pdf`
  await files.put(storageKey, bytes)
  return {
    documentId,
    filename: filenameOf(run),
    contentType,
    size: bytes.byteLength,
    sha256: hash('sha256', bytes),
    pages,
    storageKey,
    expiresAt: new Date(time.getTime() + keptFor)
  }
}

/** `<template>-<number>.pdf`, in characters that every file system takes. */
function filenameOf ({ template, documentNumber, dispatchId }: Run): string {
  const name = `${template.name}-${documentNumber ?? dispatchId}`
  // The cut may leave half of a surrogate pair.
  return `${name.normalize('NFC').replaceAll(/[^\p{L}\p{N}._-]+/gu, '-').slice(0, 100).replace(/\p{Cs}$/u, '')}.pdf`
}
