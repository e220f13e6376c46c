import { type Actor, sightOf } from '@dispatch/accounts'
import { isUuid, type Log } from '@dispatch/common'
import { DispatchError, refusal } from '@dispatch/contract'
import type { FileShelf, FileUse, Receive } from '@dispatch/core'
import type { Database } from '@dispatch/database'
import { draftEnding, type FileStore } from '@dispatch/files'
import { token } from '@dispatch/plugins/feature'
import type { Readable } from 'node:stream'
import { type FileView, maxFiles } from '../contract/files.ts'
import { addFile, companyIds, type EndingFile, endingFiles, type FilePlace, type FileRow, findFile, forgetFiles, hideFile, keepFiles,
  type Lacking, lackingFor, listFiles, recordedFiles, type Removable, setExpiry, takeExpired } from '../store/files.ts'
import type { Scan } from './scan.ts'
import { contradictionIn } from './types.ts'

/** Files that companies upload for their dispatches. */
export type UploadedFiles = FileShelf & {
  /**
   * Stores a file. Throws `validation_failed` for one that is not what it says, that a scanner refuses, or that the company has no room
   * for; `service_unavailable` where the scanner does not answer; and what the stream throws. Then nothing of it is kept.
   */
  add: (actor: Actor, file: { bytes: Readable, filename: string, contentType: string }) => Promise<FileView>
  list: (actor: Actor, page: { limit: number, after?: string | undefined }) => Promise<FileView[]>
  /** Undefined where there is none that the actor may see. `counts`: asks what waits for it, too. */
  read: (actor: Actor, fileId: string, only: { counts: boolean }) => Promise<FileView | undefined>
  /** Answers whether there was one. A dispatch that still waits for it fails. */
  remove: (actor: Actor, fileId: string) => Promise<boolean>
  /** Keeps what something that waits still names; removes what has expired, and bytes that were never recorded. */
  sweep: () => Promise<void>
}

export const uploadedFiles = token<UploadedFiles>('uploadedFiles')

const hour = 3_600_000
const day = 24 * hour
/** Milliseconds: a file that no dispatch uses, one that a dispatch uses, and how much of that may have passed before it is renewed. */
const [unused, used, slack] = [day, 30 * day, day]
/** A file that expires within this time is kept for another day where something still names it. Longer than no process may run. */
const soon = 12 * hour
/** Bytes without a row are removed when their folder is this many days old. */
const lookedInto = [2, 3, 4]
/** Files that are looked for together. */
const together = 500
/** Of each kind of what waits and may name a file, so many are looked into where somebody asks how many do. */
const looksInto = 10_000
/** Where their bytes are. */
const folder = 'files'

type Parts = {
  database: Database
  files: FileStore
  /** What names files and waits. */
  uses: readonly FileUse[]
  receive: Receive
  log: Log
  now: () => Date
  quota: number
  scan: Scan | undefined
}

const later = ({ now }: Parts, milliseconds: number): Date => new Date(now().getTime() + milliseconds)

/** Throws unless the scanner finds nothing in a stored file. */
async function requireHarmless (
  { scan, files, log }: Parts,
  key: string,
  { size, sha256 }: { size: number, sha256: string }
): Promise<void> {
  if (scan === undefined) return
  const verdict = await scan({ bytes: await files.stream({ key, size, sha256 }), size }).catch((cause: unknown) => {
    log.warn({ err: cause }, 'the scanner of files does not answer')
    throw new DispatchError('service_unavailable', 'The scanner of files cannot be asked now; the file was not kept. Try again later.', {
      cause
    })
  })
  if (verdict.verdict === 'too large') throw refuse('not_scanned', 'The scanner does not take a file of this size.')
  if (verdict.verdict === 'infected') {
    throw refuse('infected', `The scanner refuses it: ${verdict.name}. Nothing of it was kept.`)
  }
}

/** A file that its company and its user may see; undefined where there is none. */
async function visible ({ database, now }: Parts, actor: Actor, fileId: string): Promise<FileRow | undefined> {
  const row = await findFile(database, actor.companyId, fileId, now())
  const { userId, test } = sightOf(actor)
  return row === undefined || (userId !== undefined && userId !== row.user_id) || (test === true && !row.test) ? undefined : row
}

/**
 * Files that are named by what waits are kept as long as it does, and those that were kept for something at a far time, which nothing
 * names any more, no longer than those of a dispatch that is sent now.
 */
async function keepNamed (parts: Parts): Promise<void> {
  const { database, uses } = parts
  const far = later(parts, used + slack)
  let after: FilePlace | undefined
  do {
    const page = await endingFiles(database, { soon: later(parts, soon), far, after, limit: together })
    for (const [companyId, rows] of Map.groupBy(page, (row) => row.company_id)) {
      const named = await namedOf(uses, companyId, rows.map((row) => row.file_id))
      const isFar = ({ expires_at: until }: EndingFile): boolean => until > far
      await setExpiry(database, companyId, rows.filter((row) => named.has(row.file_id) && !isFar(row)), later(parts, unused))
      await setExpiry(database, companyId, rows.filter((row) => !named.has(row.file_id) && isFar(row)), later(parts, used))
    }
    after = page.length < together ? undefined : page.at(-1)
  } while (after !== undefined)
}

/** By how many that wait each of these files is named. One kind after the other: none takes a connection beside another. */
async function namedOf (
  uses: readonly FileUse[],
  companyId: number,
  fileIds: readonly string[],
  limit?: number
): Promise<Map<string, number>> {
  const named = new Map<string, number>()
  for (const use of uses) {
    for (const [id, count] of await use(companyId, fileIds, limit)) named.set(id, (named.get(id) ?? 0) + count)
  }
  return named
}

async function removeExpired ({ database, now, files }: Parts): Promise<void> {
  let taken: Removable[]
  do {
    taken = await takeExpired(database, now(), together)
    for (const { storage_key: key } of taken) await files.remove(key)
    await forgetFiles(database, taken)
  } while (taken.length === together)
}

/** Removes bytes whose upload ended before they were recorded, by the day on which they were stored. */
async function removeAbandoned (parts: Parts): Promise<void> {
  const { database, files } = parts
  for (const companyId of await companyIds(database)) {
    for (const days of lookedInto) {
      const keys = (await files.list(`${folder}/${companyId}/${later(parts, -days * day).toISOString().slice(0, 10)}`))
        .filter((key) => isUuid(idOf(key)))
      for (let from = 0; from < keys.length; from += together) await removeUnrecorded(parts, companyId, keys.slice(from, from + together))
    }
  }
}

async function removeUnrecorded ({ database, files }: Parts, companyId: number, keys: readonly string[]): Promise<void> {
  const recorded = await recordedFiles(database, companyId, keys.map(idOf))
  for (const key of keys) if (!recorded.has(idOf(key))) await files.remove(key)
}

function requireRoom ({ quota }: Parts, lacking: Lacking): void {
  if (lacking === 'files') throw refuse('too_many', `A company has ${maxFiles} files at most: remove some, or wait until they expire.`)
  if (lacking === 'bytes') throw overQuota(quota)
}

const add = (parts: Parts): UploadedFiles['add'] => async ({ companyId, userId, key }, { bytes, filename, contentType }) => {
  const { database, receive, now, quota } = parts
  const room = { files: maxFiles, bytes: quota }
  requireRoom(parts, await lackingFor(database, companyId, 1, room))
  const { document, discard, head } = await receive(companyId, { bytes, filename, contentType, folder })
  try {
    if (document.size === 0) throw refuse('empty', 'The file is empty.')
    const contradiction = contradictionIn({ filename, declared: contentType, found: document.contentType, head })
    if (contradiction !== undefined) throw refuse('not_what_it_says', contradiction)
    await requireHarmless(parts, document.storageKey, document)
    const row: FileRow = {
      file_id: document.documentId,
      user_id: userId,
      test: key?.mode === 'test',
      filename: document.filename,
      content_type: document.contentType,
      size: String(document.size),
      sha256: document.sha256,
      storage_key: document.storageKey,
      created_at: now(),
      expires_at: later(parts, unused)
    }
    requireRoom(parts, await addFile(database, companyId, row, room))
    return viewOf(row)
  } catch (error) {
    // After any other error it may have been recorded. What was not is found by the day on which it was stored.
    if (error instanceof DispatchError) await discard()
    throw error
  }
}

/**
 * The files that companies upload. Throws `validation_failed` for one that cannot be kept, such as one in which the scanner finds harm;
 * `service_unavailable` where the scanner does not answer.
 */
export function createUploadedFiles (parts: Parts): UploadedFiles {
  const { database, now } = parts

  return {
    add: add(parts),

    async list (actor, page) {
      return (await listFiles(database, actor.companyId, sightOf(actor), { ...page, now: now() })).map(viewOf)
    },

    async read (actor, fileId, { counts }) {
      const row = await visible(parts, actor, fileId)
      if (row === undefined || !counts) return row && viewOf(row)
      const named = await namedOf(parts.uses, actor.companyId, [row.file_id], looksInto)
      return { ...viewOf(row), waiting: named.get(row.file_id) ?? 0 }
    },

    async remove (actor, fileId) {
      return await visible(parts, actor, fileId) !== undefined && await hideFile(database, actor.companyId, fileId, now())
    },

    async find (companyId, fileId) {
      const row = await findFile(database, companyId, fileId, now())
      if (row === undefined) return undefined
      const { file_id: id, filename, content_type: contentType, sha256, storage_key: key, user_id: userId, test } = row
      const size = Number(row.size)
      return { document: { id, filename, contentType, size, sha256 }, stored: { key, size, sha256 }, userId, test }
    },

    keep: (companyId, fileIds, sentAt) =>
      keepFiles(database, companyId, {
        fileIds,
        now: now(),
        until: new Date(sentAt.getTime() + used),
        about: new Date(sentAt.getTime() + used - slack)
      }),

    async sweep () {
      await keepNamed(parts)
      await removeExpired(parts)
      await removeAbandoned(parts)
    }
  }
}

function viewOf (row: FileRow): FileView {
  return {
    id: row.file_id,
    filename: row.filename,
    contentType: row.content_type,
    size: Number(row.size),
    sha256: row.sha256,
    userId: row.user_id,
    createdAt: row.created_at.toISOString(),
    expiresAt: row.expires_at.toISOString()
  }
}

function refuse (code: string, message: string): DispatchError {
  return refusal('validation_failed', [{ path: '/file', code, message }])
}

function overQuota (quota: number): DispatchError {
  return refuse('over_quota',
    `The files of the company may have ${quota / 1024 / 1024} MiB together: remove some, or wait until they expire.`)
}

/** The id at the end of a storage key; a draft has an ending after it. */
function idOf (key: string): string {
  const name = key.slice(key.lastIndexOf('/') + 1)
  return name.endsWith(draftEnding) ? name.slice(0, -draftEnding.length) : name
}
