import fc from 'fast-check'
import { hash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { appendFile, copyFile, mkdir, readFile, readlink, truncate, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { directory } from '../../../../test/fixtures/providers/folders.ts'
import { has } from '../../../../test/support/matching.ts'
import type { DataKey } from '../derived-keys.ts'
import { StorageUnavailable } from '../errors.ts'
import { createLocalFiles, type FileStore, type StoredFile } from '../files.ts'
import { type FileKeys, isSealed, opened, sealed } from '../sealing.ts'

const key: DataKey = { id: randomBytes(16), secret: randomBytes(32) }
const keys: FileKeys = {
  current: (file) => Promise.resolve(file.startsWith('documents/') ? key : undefined),
  find: (_file, id) =>
    Buffer.from(key.id).equals(id) ? Promise.resolve(key.secret) : Promise.reject(new StorageUnavailable('away', undefined))
}
const bytes = Buffer.from('%PDF-1.7 '.repeat(20_000))
const file: StoredFile = { key: 'documents/7/2026-03-14/a', size: bytes.byteLength, sha256: hash('sha256', bytes) }

async function begin (t: Test): Promise<{ folder: string, path: string, files: FileStore }> {
  const folder = await directory(t)
  return { folder, path: join(folder, file.key), files: createLocalFiles(folder, keys) }
}

const failed = (work: Promise<unknown>): Promise<unknown> => work.then(() => undefined, (error: unknown) => error)

/** Bytes that come in pieces of these lengths, and then the rest. */
function* inPieces (all: Uint8Array, lengths: readonly number[]): Generator<Uint8Array> {
  let at = 0
  for (const length of lengths) yield all.subarray(at, at += length)
  yield all.subarray(at)
}

const gathered = async (pieces: AsyncIterable<Uint8Array>): Promise<Buffer> => Buffer.concat(await Array.fromAsync(pieces))
const lengths = fc.array(fc.nat(90), { maxLength: 12 })

await t.test('whatever bytes are sealed open again, in whatever pieces both come; and what is not sealed passes', () =>
  fc.assert(fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), lengths, lengths, async (plain, written, read) => {
    const stored = await gathered(sealed(key, 'a', inPieces(plain, written)))
    const again = await gathered(opened(keys.find, 'a', Readable.from(inPieces(stored, read))))
    const passed = await gathered(opened(keys.find, 'a', Readable.from(inPieces(plain, read))))
    return again.equals(plain) && passed.equals(plain) && stored.length === plain.length + 68
  })))

await t.test('a byte that is altered anywhere is found, and so is a file in another\'s place', () =>
  fc.assert(fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 100 }), fc.nat(), async (plain, at) => {
    const stored = await gathered(sealed(key, 'a', [plain]))
    const altered = Buffer.from(stored)
    altered[at % stored.length]! ^= 1
    const [found, moved] = await Promise.all([
      gathered(opened(keys.find, 'a', Readable.from([altered]))).catch(() => undefined),
      gathered(opened(keys.find, 'b', Readable.from([stored]))).catch(() => undefined)
    ])
    // Without its mark a file is one that was never sealed, which its SHA-256 shows not to be the one.
    return moved === undefined && found?.equals(plain) !== true
  })))

await t.test('what is put or received lies sealed, under another nonce each time, and is read again', async (t) => {
  const { path, files } = await begin(t)
  await files.put(file.key, bytes)
  const first = await readFile(path)
  t.notOk(first.includes('%PDF'))
  t.same(await buffer(await files.stream(file)), bytes)
  const received = await files.receive(file.key, Readable.from([bytes.subarray(0, 3), bytes.subarray(3)]))
  t.strictSame({ ...received, head: Buffer.from(received.head).toString() }, {
    size: file.size,
    sha256: file.sha256,
    head: bytes.subarray(0, 4100).toString()
  })
  const second = await readFile(path)
  // Past the mark, the id of the key and the salt of the process.
  t.notOk(second.subarray(40).equals(first.subarray(40)))
  t.notOk(second.subarray(40, 52).equals(first.subarray(40, 52)), 'the nonce')
  t.notOk(second.includes('%PDF'))
  await files.check(file)
  await files.put('database/a.json', Buffer.from('{}'))
  t.equal(Buffer.from(await files.read('database/a.json') ?? []).toString(), '{}', 'what is of nobody is as it was')
})

await t.test('a file that was stored before there were keys is read as it is', async (t) => {
  const { folder, files } = await begin(t)
  await createLocalFiles(folder).put(file.key, bytes)
  t.same(await buffer(await files.stream(file)), bytes)
})

const damages: Record<string, [damage: (path: string) => Promise<void>, told: RegExp]> = {
  'that was truncated': [(path) => truncate(path, bytes.byteLength), /was altered/],
  'of which the head alone is left': [(path) => truncate(path, 60), /was altered/],
  'of which not even that is left': [(path) => truncate(path, 20), /has 20 bytes instead of 180000/],
  'that grew': [(path) => appendFile(path, 'x'), /was altered/],
  'that was another\'s': [
    async (path) => {
      const other = path.replace('/7/', '/8/')
      await mkdir(dirname(other), { recursive: true })
      await writeFile(other, await gathered(sealed(key, 'documents/8/2026-03-14/a', [bytes])))
      await copyFile(other, path)
    },
    /was altered since it was sealed, or belongs to another place/
  ]
}

for (const [what, [damage, reported]] of Object.entries(damages)) {
  await t.test(`of a sealed file ${what} nobody gets a byte`, async (t) => {
    const { path, files } = await begin(t)
    await files.put(file.key, bytes)
    await damage(path)
    for (const way of [files.stream, files.check]) has(t, await failed(way(file)), { name: 'FileDamaged', message: reported })
  })
}

await t.test('a file that an earlier build has sealed is said to be one, and is not sealed a second time', async (t) => {
  const { path, files } = await begin(t)
  await files.put(file.key, bytes)
  const stored = await readFile(path)
  t.equal(stored[7], 2, 'the layout')
  stored[7] = 1
  await writeFile(path, stored)
  const reported = { name: 'FileDamaged', message: /was sealed by an earlier build, and this one opens no such file/ }
  for (const way of [files.stream, files.check]) has(t, await failed(way(file)), reported)
  t.ok(isSealed(stored))
  const found = failed(gathered(opened(keys.find, file.key, Readable.from(inPieces(stored, [3, 4, 1, 20])))))
  has(t, await found, reported)
  stored[7] = 3
  t.notOk(isSealed(stored), 'no layout that there has been')
})

await t.test('without its key a file is not said to be damaged', async (t) => {
  const { folder, files } = await begin(t)
  await files.put(file.key, bytes)
  const strange: FileKeys = { ...keys, find: (name) => keys.find(name, randomBytes(16)) }
  for (const other of [createLocalFiles(folder), createLocalFiles(folder, strange)]) {
    for (const way of [other.stream, other.check]) has(t, await failed(way(file)), { name: 'StorageUnavailable', state: 'away' })
  }
})

await t.test('nothing is written where there is no key to seal with', async (t) => {
  const { folder } = await begin(t)
  const files = createLocalFiles(folder, { ...keys, current: () => Promise.reject(new StorageUnavailable('full', undefined)) })
  has(t, await failed(files.put(file.key, bytes)), { name: 'StorageUnavailable' })
  has(t, await failed(files.receive(file.key, Readable.from([bytes]))), { name: 'StorageUnavailable' })
  t.strictSame(readdirSync(folder), [])
})

await t.test('a stream that nobody reads to its end leaves no file open', { skip: process.platform !== 'linux' && 'needs /proc' },
  async (t) => {
    const { path, files } = await begin(t)
    // A small one is read at once.
    const large = Buffer.concat([bytes, bytes])
    await files.put(file.key, large)
    const isOpen = async (): Promise<boolean> => {
      const links = await Promise.all(readdirSync('/proc/self/fd').map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')))
      return links.includes(path)
    }
    for (const begun of [false, true]) {
      const stream = await files.stream({ ...file, size: large.byteLength, sha256: hash('sha256', large) })
      t.ok(await isOpen())
      if (begun) await once(stream, 'readable')
      stream.destroy()
      await once(stream, 'close')
      while (await isOpen()) await new Promise(setImmediate)
    }
    await files.put(file.key, bytes)
    await files.stream(file)
    t.notOk(await isOpen())
  })

await t.test('all that is below a folder is removed, and nothing beside it', async (t) => {
  const { folder, files } = await begin(t)
  for (const at of ['documents/7/2026-03-14/a', 'documents/7/2026-03-15/b', 'documents/70/2026-03-14/c']) await files.put(at, bytes)
  await files.removeBelow('documents/7')
  await files.removeBelow('documents/7')
  await files.removeBelow('nothing/7')
  t.strictSame([await files.list('documents'), readdirSync(join(folder, 'documents', '70'))], [['documents/70'], ['2026-03-14']])
})
