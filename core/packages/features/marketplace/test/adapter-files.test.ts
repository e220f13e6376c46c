import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { directory } from '../../../../../test/fixtures/providers/folders.ts'
import { contains } from '../../../../../test/support/matching.ts'
import { createAdapterFiles, type PackageFiles } from '../service/adapter-files.ts'

const content: PackageFiles = new Map([['index.js', Buffer.from('export default 1')], ['lib/word.js', Buffer.from('export default "x"')]])
const files = Object.fromEntries([...content].map(([path, bytes]) => [path, createHash('sha256').update(bytes).digest('hex')]))
const desired = { integrity: `sha512-${Buffer.from('any').toString('base64')}`, files }

async function begin (t: Test) {
  const root = join(await directory(t), 'adapters')
  let reads = 0
  const read = (): Promise<PackageFiles> => {
    reads++
    return Promise.resolve(content)
  }
  return { root, store: createAdapterFiles({ root, read }), reads: () => reads }
}

async function pathsIn (root: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1)).sort()
}

await t.test('a package is extracted once, under the name of its content, whoever asks for it at the same time', async (t) => {
  const { root, store, reads } = await begin(t)
  const [folder, same] = await Promise.all([store.place(desired), store.place(desired)])
  t.equal(folder, same)
  t.same(await pathsIn(root), ['616e79/index.js', '616e79/lib/word.js'])
  t.equal(await store.place(desired), folder)
  t.equal(reads(), 1)
})

for (const [what, damage] of [
  ['was changed', (folder: string) => writeFile(join(folder, 'index.js'), 'export default 2')],
  ['is missing', (folder: string) => rm(join(folder, 'lib/word.js'))],
  ['was added', (folder: string) => writeFile(join(folder, 'more.js'), '')],
  ['was replaced by a link', async (folder: string) => {
    await rm(join(folder, 'index.js'))
    await symlink('lib/word.js', join(folder, 'index.js'))
  }]
] as const) {
  await t.test(`where a file ${what}, the package is extracted again`, async (t) => {
    const { root, store, reads } = await begin(t)
    const folder = await store.place(desired)
    await damage(folder)
    t.equal(await store.place(desired), folder)
    t.same(await pathsIn(root), ['616e79/index.js', '616e79/lib/word.js'])
    t.equal(await readFile(join(folder, 'index.js'), 'utf8'), 'export default 1')
    t.equal(reads(), 2)
  })
}

await t.test('a package that is not what was taken in is not placed', async (t) => {
  const { root, store } = await begin(t)
  await t.rejects(store.place({ ...desired, files: { ...files, 'index.js': 'another' } }), { message: /not what was taken in/ })
  t.same(await pathsIn(root), [])
})

await t.test('what is staged goes with its use', async (t) => {
  const { root, store } = await begin(t)
  {
    await using staged = await store.stage(content)
    t.equal(await readFile(join(staged.folder, 'lib/word.js'), 'utf8'), 'export default "x"')
  }
  t.same(await pathsIn(root), [])
})

await t.test('a sweep removes what nobody uses, and what killed processes left, and nothing else', async (t) => {
  const { root, store } = await begin(t)
  await store.place(desired)
  const other = { ...desired, integrity: `sha512-${Buffer.from('old').toString('base64')}` }
  await store.place(other)
  const [killed, alive] = [placing(root, 'stage'), placing(root, 'stage')]
  for (const { stdout } of [killed, alive]) await once(stdout, 'data')
  killed.kill('SIGKILL')
  await once(killed, 'exit')
  for (const [name, age] of [['.staging elsewhere 1 new', 0], ['.staging elsewhere 1 old', 2 * 24 * 3600]] as const) {
    await mkdir(join(root, name))
    await utimes(join(root, name), Date.now() / 1000 - age, Date.now() / 1000 - age)
  }
  await store.sweep(() => Promise.resolve([desired.integrity]))
  const left = (await readdir(root)).map((name) => name.replace(/ \S+$/, '')).sort()
  t.same(left.filter((name) => !name.endsWith(String(alive.pid))), ['.staging elsewhere 1', '616e79'])
  t.equal(left.length, 3)
  alive.kill('SIGKILL')
})

await t.test('a sweep of a folder that is not there does nothing', async (t) => {
  const { store } = await begin(t)
  await store.sweep(() => Promise.resolve([]))
})

await t.test('a disk that is full in the middle leaves nothing behind, and the next try succeeds', async (t) => {
  const { root } = await begin(t)
  contains(t, await text(placing(root, 'place', 65_536).stdout), /EFBIG/)
  t.same(await pathsIn(root), [])
  t.equal(await text(placing(root, 'place').stdout), 'placed\n')
  t.same((await pathsIn(root)).length, 2)
})

/** A process that stages or places; `max` bytes fit on its disk, as the limit of a process for its files. */
function placing (root: string, way: 'stage' | 'place', max?: number) {
  const program = fileURLToPath(new URL('fixtures/placing.ts', import.meta.url))
  const limit = max === undefined ? '' : `ulimit -f ${max / 512}; `
  return spawn('sh', ['-c', `${limit}exec "$@"`, 'sh', process.execPath, program, root, way], { stdio: ['ignore', 'pipe', 'inherit'] })
}
