import type { Envelope, Keyring, Log } from '@dispatch/common'
import type { Database } from '@dispatch/database'
import { type DataKey, DataKeyMissing, type FileKeys, type FileStore, StorageUnavailable } from '@dispatch/files'
import { LRUCache } from 'lru-cache'
import { randomBytes, randomUUID } from 'node:crypto'
import { findDataKey, forgetDataKey, isOfNobody, listCompanyIds, listDataKeys, listKeysInUse, nameDataKey,
  type NamedKey } from './named-keys.ts'
import type { ColumnKeys } from './sealed-columns.ts'

/** Where the data keys of companies are: apart from the database and from the documents, so that no backup of these brings one back. */
export type KeyPlace = Pick<FileStore, 'ready' | 'read' | 'put' | 'remove' | 'list' | 'removeBelow'>

/** The keys that seal the documents and the data of companies: one for each, itself sealed under the master key. */
export type DataKeys = FileKeys & ColumnKeys & {
  /** Throws one sentence where no key can be kept, or where none is that the database names, or none that the master key opens. */
  ready: () => Promise<void>
  /** Removes the keys of a company for good: what they sealed is read by nobody any more, wherever a copy of it is. */
  shred: (companyId: number) => Promise<void>
}

type Options = { place: KeyPlace, keyring: Keyring, database: Database, log: Log }

/** Milliseconds after which a process has forgotten a key that was removed by another one. */
export const rememberedFor = 60_000
/** The most keys that a process remembers. */
const maxRemembered = 10_000
/** The newest keys that a start looks for. */
const looksFor = 5

/**
 * The order makes a key safe before anything is sealed with it: it is kept first, then named in the database, where the first process wins.
 * A key that the database names and that is not there is never replaced by itself: it may only be the wrong place, so that opening throws.
 */
export function createDataKeys ({ place, keyring, database, log }: Options): DataKeys {
  const bounds = { max: maxRemembered, ttl: rememberedFor }
  const secrets = new LRUCache<string, Buffer | DataKeyMissing>({
    ...bounds,
    // Also where nobody asks for it any more.
    ttlAutopurge: true,
    fetchMethod: (path) => readSecret(path)
  })
  const named = new LRUCache<number, string>({
    ...bounds,
    fetchMethod: async (companyId) => await findDataKey(database, companyId) ?? makeKey(companyId)
  })

  /** A key that is lost for good is remembered as such: whoever reads all that it has sealed does not look for it each time. */
  async function readSecret (path: string): Promise<Buffer | DataKeyMissing> {
    try {
      const bytes = await place.read(path)
      if (bytes !== undefined) return openKey(keyring, path, bytes)
      const [companyId, keyId] = path.split('/')
      const missing = new DataKeyMissing(path, await findDataKey(database, Number(companyId)) !== keyId)
      if (!missing.isGone) throw missing
      log.warn({ key: path }, 'a data key is lost for good: what it has sealed stays closed')
      return missing
    } catch (error) {
      log.error({ err: error, key: path }, 'a data key cannot be read, so that documents can neither be stored nor opened')
      throw error instanceof StorageUnavailable ? error : new StorageUnavailable('away', error)
    }
  }

  async function makeKey (companyId: number): Promise<string> {
    const keyId = randomUUID()
    const path = pathOf(companyId, keyId)
    await place.put(path, Buffer.from(JSON.stringify(keyring.seal(randomBytes(32), contextOf(path)))))
    const winner = await nameDataKey(database, companyId, keyId).catch(async (error: unknown) => {
      // After any other error the database may have named it.
      if (isOfNobody(error)) await place.remove(path)
      throw error
    })
    if (winner !== keyId) await place.remove(path)
    return winner
  }

  async function secretOf (path: string): Promise<Buffer> {
    const secret = await secrets.fetch(path)
    if (secret === undefined) throw new Error('A key was read, and is not there.')
    if (secret instanceof DataKeyMissing) throw secret
    return secret
  }

  async function ofCompany (companyId: number): Promise<DataKey> {
    const keyId = await named.fetch(companyId)
    if (keyId === undefined) throw new Error('A company has got a key, and has none.')
    try {
      return { id: bytesOf(keyId), secret: await secretOf(pathOf(companyId, keyId)) }
    } catch (error) {
      // It was renewed, and this process remembers the lost one.
      if (!(error instanceof DataKeyMissing && error.isGone && named.delete(companyId))) throw error
      return ofCompany(companyId)
    }
  }
  const findOf = (companyId: number, id: Uint8Array): Promise<Buffer> => secretOf(pathOf(companyId, textOf(id)))

  return {
    ofCompany,
    findOf,
    async current (file) {
      const companyId = companyOf(file)
      return companyId === undefined ? undefined : await ofCompany(companyId)
    },
    async find (file, id) {
      const companyId = companyOf(file)
      if (companyId === undefined) throw new Error(`The file ${file} is of no company, and sealed.`)
      return findOf(companyId, id)
    },
    async ready () {
      await place.ready()
      const newest = await listKeysInUse(database, looksFor)
      const paths = newest.map(({ companyId, keyId }) => pathOf(companyId, keyId))
      const found = await Promise.all(paths.map(async (path) => {
        const bytes = await place.read(path)
        return bytes !== undefined && openKey(keyring, path, bytes).length > 0
      }))
      if (newest.length === 0 || found.includes(true)) return
      throw new Error('DISPATCH_KEYS has none of the data keys that the database names: name the place where they are, or restore them ' +
        'from their backup. If they are lost for good, `npm run dispatch -- keys renew` makes others; what they sealed stays closed.')
    },
    async shred (companyId) {
      await place.removeBelow(String(companyId))
      named.delete(companyId)
      for (const path of [...secrets.keys()]) if (path.startsWith(`${companyId}/`)) secrets.delete(path)
    }
  }
}

/**
 * Wraps the data keys of all companies under the first master key of the keyring. After an interruption it is simply run again. Answers how
 * many there are. Throws a SealError where one is sealed under a master key that the keyring does not have, and one sentence where one is
 * missing that the database names, of a company that is not disabled.
 */
export async function rewrapDataKeys (
  database: Pick<Database, 'owner'>,
  { place, keyring }: Pick<Options, 'place' | 'keyring'>
): Promise<number> {
  let keys = 0
  const missing = await listMissing(await listKeysInUse(database), place)
  if (missing.length > 0) {
    throw new Error(
      `DISPATCH_KEYS has not all of the data keys that the database names: those of the companies ${
        missing.map(({ companyId }) => companyId).join(', ')
      } are missing. Name the place where they are, or say with \`npm run dispatch -- keys renew\` that they are lost.`
    )
  }
  for (const companyId of await listCompanyIds(database)) {
    for (const path of await place.list(String(companyId))) {
      const bytes = await place.read(path)
      // A draft of a process that was killed, or a key that has just gone.
      if (bytes === undefined || !pathForm.test(path)) continue
      const envelope = JSON.parse(Buffer.from(bytes).toString()) as Envelope
      if (envelope.kid !== keyring.kid) await place.put(path, Buffer.from(JSON.stringify(keyring.rewrap(envelope))))
      keys++
    }
  }
  return keys
}

/** Lets companies whose data key is lost get another one. Answers which. */
export async function renewDataKeys (database: Pick<Database, 'owner'>, { place }: Pick<Options, 'place'>): Promise<number[]> {
  const missing = await listMissing(await listDataKeys(database), place)
  for (const key of missing) await forgetDataKey(database, key)
  return missing.map(({ companyId }) => companyId)
}

/** Those of these keys that are not there. */
async function listMissing (keys: readonly NamedKey[], place: KeyPlace): Promise<NamedKey[]> {
  const missing: NamedKey[] = []
  for (const key of keys) {
    if (await place.read(pathOf(key.companyId, key.keyId)) === undefined) missing.push(key)
  }
  return missing
}

function openKey (keyring: Keyring, path: string, bytes: Uint8Array): Buffer {
  return keyring.open(JSON.parse(Buffer.from(bytes).toString()) as Envelope, contextOf(path))
}

/** The keys of a process that has none: it seals nothing, and opens nothing. */
export const noDataKeys: ColumnKeys = {
  ofCompany: () => Promise.resolve(undefined),
  findOf: (companyId) =>
    Promise.reject(new StorageUnavailable('away', new Error(`Data of the company ${companyId} are sealed, and DISPATCH_KEYS is not set.`)))
}

const pathForm = /^\d+\/[\da-f-]{36}$/

function pathOf (companyId: number, keyId: string): string {
  return `${companyId}/${keyId}`
}

function contextOf (path: string): string {
  return `data key|${path}`
}

/** Of a key of the storage, `<folder>/<company>/…`; undefined for what is of no company. */
function companyOf (file: string): number | undefined {
  const [, companyId] = /^[a-z-]+\/(\d{1,10})\//.exec(file) ?? []
  return companyId === undefined ? undefined : Number(companyId)
}

function bytesOf (uuid: string): Buffer {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex')
}

function textOf (id: Uint8Array): string {
  return Buffer.from(id).toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
