import { type Actor, documentLastsUntil, isUnbounded, maySee, sightOf } from '@dispatch/accounts'
import type { DocumentHandle, JsonObject, Problem } from '@dispatch/common'
import { refusal } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import type { TemplateWorkers } from '@dispatch/documents'
import type { FileStore, StoredFile } from '@dispatch/files'
import { type DocumentSource, type Enclosed, type Enclosure, furtherDocuments, givenDocument, largestJoined, placeOf, type ServiceName,
  services } from '@dispatch/services'
import { buffer } from 'node:stream/consumers'
import { findDispatch, findDocument } from '../store/dispatch/dispatch-views.ts'
import type { FileShelf, UploadedFile } from './file-shelf.ts'
import { placeIn } from './places.ts'
import type { ResolvedRequest, ResolvedStep } from './plan/resolve.ts'
import { documentHandleOf, storedDocument, storedFile } from './stored-document.ts'

type Sources = { database: Database, shelves: readonly FileShelf[] }

/** By what PDFs are read. */
type Readers = Sources & { files: Pick<FileStore, 'stream'>, templateWorkers: Pick<TemplateWorkers, 'pages'> }

/**
 * A step as its fields name documents. `at`: where a field of it stands in the request. `whole`: its document is stored, so that those of
 * which it was made are not needed any more.
 */
type Naming = { service: ServiceName, fields: JsonObject, at?: (field: string) => string, whole?: boolean }

/** The documents that the fields of a step name, and that it still needs. */
export function enclosuresOf ({ service, fields, whole = false }: Naming): Enclosure[] {
  const named = services[service].encloses?.(fields) ?? []
  return whole ? named.filter(({ field }) => field !== givenDocument && field !== furtherDocuments) : named
}

/** Whether the document of a step is stored as it is sent: with whatever follows it. */
export function isWhole (fields: JsonObject, document: unknown, made: JsonObject | null | undefined): boolean {
  return document !== undefined && (fields[furtherDocuments] === undefined || made?.['joined'] === true)
}

/**
 * The documents that the fields of a step name, found. `actor`: who may only name what they may see; left out where that was checked
 * before. Throws `validation_failed` with those that are not there.
 */
export async function findEnclosed (sources: Sources, companyId: number, step: Naming, actor?: Actor): Promise<Enclosed[]> {
  const problems: Problem[] = []
  const found: Enclosed[] = []
  for (const enclosure of enclosuresOf(step)) {
    const document = await findSource(sources, companyId, enclosure, actor)
    if (document === undefined) problems.push(missing(enclosure, placeOf(enclosure, step.at ?? placeIn(step.service))))
    else found.push({ ...enclosure, document })
  }
  if (problems.length > 0) throw refusal('validation_failed', problems)
  return found
}

/** A document that a request names; undefined where there is none, or none any more. */
async function findSource (
  { database, shelves }: Sources,
  companyId: number,
  { fileId, documentId = '' }: DocumentSource,
  actor: Actor | undefined
): Promise<DocumentHandle | undefined> {
  if (fileId !== undefined) return (await findVisibleFile(shelves, companyId, fileId, actor))?.document
  const row = await findDocument(database, companyId, documentId)
  if (row === undefined || row.expires_at <= await database.time()) return undefined
  if (actor !== undefined && !isUnbounded(sightOf(actor))) {
    const dispatch = await findDispatch(database, companyId, row.dispatch_id)
    if (dispatch === undefined || !maySee(actor, dispatch)) return undefined
  }
  return documentHandleOf(storedDocument(row))
}

async function findVisibleFile (
  shelves: readonly FileShelf[],
  companyId: number,
  fileId: string,
  actor: Actor | undefined
): Promise<UploadedFile | undefined> {
  const file = await shelves[0]?.find(companyId, fileId)
  const { userId, test } = actor === undefined ? {} : sightOf(actor)
  if (file === undefined || (userId !== undefined && userId !== file.userId) || (test === true && !file.test)) return undefined
  return file
}

function missing ({ fileId }: DocumentSource, place: string): Problem {
  return fileId === undefined
    ? { path: `${place}/documentId`, code: 'not_found', message: 'There is no document with this id, or none any more.' }
    : {
      path: `${place}/fileId`,
      code: 'not_found',
      message: 'There is no file with this id, or none any more: one that no dispatch uses is kept for 24 hours.'
    }
}

/**
 * The steps of a request with the documents that their fields name, and what stands in PDFs that somebody has to print, sign or join.
 * Throws `validation_failed` with those that are not there.
 */
export async function withEnclosed (sources: Readers, actor: Actor, draft: ResolvedRequest): Promise<ResolvedRequest> {
  const all = [...draft.steps, ...draft.deferred]
  if (all.every((step) => enclosuresOf(step).length === 0)) return draft
  const needed = all.some(({ service }) => takesPages(service))
  const fill = (steps: readonly ResolvedStep[]): Promise<ResolvedStep[]> =>
    Promise.all(steps.map(async (step) => {
      const enclosed = await findEnclosed(sources, actor.companyId, step, actor)
      return { ...step, enclosed: needed ? await withPages(sources, actor.companyId, enclosed) : enclosed }
    }))
  return { ...draft, steps: await fill(draft.steps), deferred: await fill(draft.deferred) }
}

/** Whether a service needs the pages of the document that it sends. */
export function takesPages (service: ServiceName): boolean {
  const { content, chain } = services[service]
  return content === 'document' && chain.consumes === 'document'
}

/** Documents with what stands in those that are sent as they are. What is no PDF, or too large, is not read. */
export async function withPages (
  { files, templateWorkers, ...sources }: Readers,
  companyId: number,
  enclosed: readonly Enclosed[]
): Promise<Enclosed[]> {
  return Promise.all(enclosed.map(async (one) => {
    const { field, document: { id, contentType, size, sha256 } } = one
    if ((field !== givenDocument && field !== furtherDocuments) || contentType !== 'application/pdf' || size > largestJoined) return one
    const stored = await findStored(sources, companyId, id)
    if (stored === undefined) return one
    return { ...one, pdf: await templateWorkers.pages(companyId, sha256, async () => buffer(await files.stream(stored))) }
  }))
}

/**
 * Keeps the files that the steps of a dispatch name for as long as it may need them, which is sent at a time. Throws `validation_failed`
 * where one has gone.
 */
export async function keepFiles (
  shelves: readonly FileShelf[],
  companyId: number,
  steps: readonly Naming[],
  sentAt: Date
): Promise<void> {
  const named = steps.flatMap((step) =>
    enclosuresOf(step).map((enclosure) => ({ ...enclosure, place: placeOf(enclosure, step.at ?? placeIn(step.service)) }))
  ).filter(({ fileId }) => fileId !== undefined)
  if (named.length === 0) return
  const kept = await shelves[0]?.keep(companyId, [...new Set(named.flatMap(({ fileId }) => fileId ?? []))], sentAt) ?? []
  const gone = named.filter(({ fileId = '' }) => !kept.includes(fileId))
  if (gone.length > 0) throw refusal('validation_failed', gone.map((one) => missing(one, one.place)))
}

/** What a schedule cannot keep: the documents of other dispatches that the steps name and that are deleted before it is sent. */
export async function findExpiring (
  { database }: Pick<Sources, 'database'>,
  companyId: number,
  steps: readonly Naming[],
  sentAt: Date
): Promise<Problem[]> {
  const named = steps.flatMap((step) =>
    enclosuresOf(step).map((one) => ({ ...one, place: placeOf(one, step.at ?? placeIn(step.service)) }))
  )
  const problems = await Promise.all(named.map(async ({ documentId, place }): Promise<Problem[]> => {
    const until = documentId === undefined ? undefined : await documentLastsUntil(database, companyId, documentId)
    return until === undefined || until > sentAt ? [] : [{
      path: `${place}/documentId`,
      code: 'expires_before',
      message: `The document is deleted at ${until.toISOString()}, before this is sent: upload it as a file, which is kept.`
    }]
  }))
  return problems.flat()
}

/** The stored bytes of a document by its id: that of a dispatch, or a file; undefined where there is neither. */
export async function findStored ({ database, shelves }: Sources, companyId: number, id: string): Promise<StoredFile | undefined> {
  const document = await findDocument(database, companyId, id)
  return document === undefined ? (await shelves[0]?.find(companyId, id))?.stored : storedFile(document)
}
