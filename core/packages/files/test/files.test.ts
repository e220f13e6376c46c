import { spawn } from 'node:child_process'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { appendFile, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { directory } from '../../../../test/fixtures/providers/folders.ts'
import { contains, has } from '../../../../test/support/matching.ts'
import { createLocalFiles, type FileStore, type StoredFile } from '../files.ts'

const bytes = Buffer.from('%PDF-1.7 '.repeat(20_000))
const file: StoredFile = { key: 'documents/7/2026-03-14/a', size: bytes.byteLength, sha256: hash('sha256', bytes) }

async function begin (t: Test): Promise<{ folder: string, path: string, files: FileStore }> {
  const folder = await directory(t)
  return { folder, path: join(folder, file.key), files: createLocalFiles(folder) }
}

const filesIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => !entry.isDirectory()).map(({ name }) => name).sort()
const failed = (work: Promise<unknown>): Promise<unknown> => work.then(() => undefined, (error: unknown) => error)

await t.test('what is put or received is read again, and nobody else on the machine reads it', async (t) => {
  const { folder, path, files } = await begin(t)
  await files.put(file.key, bytes)
  t.same(await buffer(await files.stream(file)), bytes)
  const received = await files.receive('documents/7/2026-03-14/b', Readable.from([bytes.subarray(0, 3), bytes.subarray(3)]))
  t.strictSame({ ...received, head: Buffer.from(received.head).toString() }, {
    size: file.size,
    sha256: file.sha256,
    head: bytes.subarray(0, 4100).toString()
  })
  t.same(await buffer(await files.stream({ ...file, key: 'documents/7/2026-03-14/b' })), bytes)
  t.equal((await stat(path)).mode & 0o077, 0)
  t.strictSame(await files.list('documents/7/2026-03-14'), ['documents/7/2026-03-14/a', 'documents/7/2026-03-14/b'])
  t.strictSame(await filesIn(folder), ['a', 'b'], 'and nothing beside them')
})

await t.test('a file takes the place of the one before, is removed once, and a folder that is not there has none', async (t) => {
  const { files } = await begin(t)
  await files.put(file.key, Buffer.from('before'))
  await files.put(file.key, bytes)
  await files.check(file)
  await files.remove(file.key)
  await files.remove(file.key)
  t.strictSame(await files.list('documents/8'), [])
  await files.put(file.key, bytes)
  await t.rejects(files.list(file.key), { code: 'ENOTDIR' }, 'what is no folder is no empty one')
})

const damages: Record<string, [damage: (path: string) => Promise<void>, told: RegExp]> = {
  'that was truncated': [(path) => truncate(path, bytes.byteLength - 1), /has 179999 bytes instead of 180000/],
  'that is missing': [(path) => rm(path), /: its file is missing\./],
  'that is empty': [(path) => truncate(path, 0), /has 0 bytes/],
  'that grew': [(path) => appendFile(path, 'x'), /has 180001 bytes/],
  'of which one byte was altered': [(path) => writeFile(path, Buffer.concat([bytes.subarray(0, -1), Buffer.from('!')])), /SHA-256/]
}

await t.test('a large file is checked as a small one is', async (t) => {
  const { path, files } = await begin(t)
  const large = Buffer.concat([bytes, bytes])
  const stored = { key: file.key, size: large.byteLength, sha256: hash('sha256', large) }
  await files.put(file.key, large)
  t.same(await buffer(await files.stream(stored)), large)
  await appendFile(path, 'x')
  for (const way of [files.stream, files.check]) has(t, await failed(way(stored)), { name: 'FileDamaged', message: /has 360001 bytes/ })
})

for (const [what, [damage, reported]] of Object.entries(damages)) {
  await t.test(`of a file ${what} nobody gets a byte`, async (t) => {
    const { path, files } = await begin(t)
    await files.put(file.key, bytes)
    await damage(path)
    for (const way of [files.stream, files.check]) has(t, await failed(way(file)), { name: 'FileDamaged', message: reported })
  })
}

/** A process that stores what it is written; `max` bytes fit on its disk, as the limit of a process for its files. */
function storing (folder: string, way: 'put' | 'receive', max?: number) {
  const command = [process.execPath, fileURLToPath(new URL('fixtures/storing.ts', import.meta.url)), folder, file.key, way]
  const limit = max === undefined ? '' : `ulimit -f ${max / 512}; `
  const stored = spawn('sh', ['-c', `${limit}exec "$@"`, 'sh', ...command], { stdio: ['pipe', 'pipe', 'inherit'] })
  // One that has failed takes no more.
  stored.stdin.on('error', () => undefined)
  return stored
}

for (const way of ['put', 'receive'] as const) {
  await t.test(`a disk that is full in the middle leaves nothing behind, and what was there: ${way}`, async (t) => {
    const { folder, path, files } = await begin(t)
    await files.put(file.key, Buffer.from('before'))
    const full = storing(folder, way, 65_536)
    full.stdin.end(bytes)
    contains(t, await text(full.stdout), /^StorageUnavailable EFBIG\n$/)
    t.strictSame(await filesIn(folder), ['a'])
    t.equal(await readFile(path, 'utf8'), 'before')
    const roomy = storing(folder, way)
    roomy.stdin.end(bytes)
    contains(t, await text(roomy.stdout), /stored\n$/)
    await files.check(file)
  })
}

await t.test('what breaks off leaves nothing behind', async (t) => {
  const { folder, files } = await begin(t)
  const broken = Readable.from((function* () {
    yield bytes
    throw new Error('broken off')
  })())
  has(t, await failed(files.receive(file.key, broken)), { message: 'broken off' })
  t.strictSame(await filesIn(folder), [])
})

await t.test('a process that ends in the middle leaves a draft, which is listed, and no file', async (t) => {
  const { folder, files } = await begin(t)
  const killed = storing(folder, 'receive')
  killed.stdin.write(bytes)
  while ((await filesIn(folder)).length === 0) await pause(10)
  killed.kill('SIGKILL')
  await once(killed, 'exit')
  t.strictSame(await filesIn(folder), ['a.part'])
  t.strictSame(await files.list('documents/7/2026-03-14'), ['documents/7/2026-03-14/a.part'])
  await files.put(file.key, bytes)
  t.strictSame(await filesIn(folder), ['a'])
})
