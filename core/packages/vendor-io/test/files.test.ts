import type { DocumentHandle } from '@dispatch/common'
import { hash } from 'node:crypto'
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import t, { type Test } from 'tap'
import { directory } from '../../../../test/fixtures/providers/folders.ts'
import { has } from '../../../../test/support/matching.ts'
import { createFiles, type Files, type FilesOptions } from '../files/files.ts'
import { type Failure, failureOf } from '../outcome/failure.ts'
import { createProgress } from '../outcome/request-outcome.ts'

const bytes = Buffer.from('%PDF-2.0')
const pdf: DocumentHandle = {
  id: '01960000-0000-7000-8000-000000000001',
  filename: 'F-1.pdf',
  contentType: 'application/pdf',
  size: bytes.byteLength,
  sha256: hash('sha256', bytes)
}

/** The files of company 7 on a disk of its own. */
async function begin (t: Test, more: Partial<FilesOptions> = {}): Promise<{ root: string, files: Files }> {
  const root = await directory(t)
  return { root, files: filesOf(root, more) }
}

function filesOf (root: string, more: Partial<FilesOptions> = {}): Files {
  const documents = { read: () => Promise.resolve(Readable.from([bytes.subarray(0, 3), bytes.subarray(3)])) }
  return createFiles({
    provider: 'disk',
    disk: { root, folder: '7' },
    documents,
    progress: createProgress({ passed: true }),
    ended: new AbortController().signal,
    holds: () => true,
    ...more
  })
}

const failed = (writing: Promise<unknown>): Promise<Failure | undefined> =>
  writing.then(() => undefined, (error: unknown) => failureOf(error) ?? Promise.reject(error as Error))
const filesIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => !entry.isDirectory()).map(({ name }) => name)

await t.test('a document is written below the company\'s folder, and nothing else', async (t) => {
  const { root, files } = await begin(t)
  await files.put('incoming/scans/F-1.pdf', pdf)
  t.same(await readFile(join(root, '7/incoming/scans/F-1.pdf')), bytes)
  t.same(await filesIn(root), ['F-1.pdf'])
})

await t.test('a document takes the place of the one before, and of a link', async (t) => {
  const { root, files } = await begin(t)
  const elsewhere = join(await directory(t), 'elsewhere')
  await writeFile(elsewhere, 'theirs')
  await mkdir(join(root, '7'))
  await symlink(elsewhere, join(root, '7/b.pdf'))
  for (const name of ['a.pdf', 'a.pdf', 'b.pdf']) await files.put(name, pdf)
  t.same(await filesIn(root), ['a.pdf', 'b.pdf'])
  t.equal(await readFile(elsewhere, 'utf8'), 'theirs')
})

await t.test('no path leads out of the company\'s folder', async (t) => {
  const { root, files } = await begin(t)
  const paths = [
    '',
    '.',
    '..',
    '../8/F-1.pdf',
    'a/../../F-1.pdf',
    '/etc/passwd',
    'a//b',
    'a/',
    '.hidden',
    'a/.part',
    'a\\b',
    'a\0b',
    'a\nb',
    'x'.repeat(256),
    'é'.repeat(128),
    'a/'.repeat(10) + 'a'
  ]
  for (const path of paths) {
    has(t, await failed(files.put(path, pdf)), { word: 'provider_error', code: 'path', ours: true }, JSON.stringify(path))
  }
  t.same(await readdir(root), [])
})

await t.test('a link out of the company\'s folder is not followed', async (t) => {
  const { root, files } = await begin(t)
  const outside = await directory(t)
  await mkdir(join(root, '7'))
  await mkdir(join(root, '8'))
  await symlink(outside, join(root, '7/out'))
  await symlink('../8', join(root, '7/next'))
  for (const path of ['out/F-1.pdf', 'out/deeper/F-1.pdf', 'next/F-1.pdf']) has(t, await failed(files.put(path, pdf)), { code: 'path' })
  t.same([...await readdir(outside), ...await readdir(join(root, '8'))], [])
})

const broken: [what: string, more: Partial<FilesOptions>, document: DocumentHandle][] = [
  ['cannot be read', { documents: { read: () => Promise.reject(new Error('gone')) } }, pdf],
  ['breaks off', { documents: { read: () => Promise.resolve(Readable.from([bytes.subarray(0, 3)])) } }, pdf],
  ['is longer than it says', {}, { ...pdf, size: 3 }],
  ['is another', {}, { ...pdf, sha256: 'c'.repeat(64) }]
]

for (const [what, more, document] of broken) {
  await t.test(`a document that ${what} leaves nothing behind, and what was there`, async (t) => {
    const { root, files } = await begin(t, more)
    await mkdir(join(root, '7'))
    await writeFile(join(root, '7/F-1.pdf'), 'before')
    has(t, await failed(files.put('F-1.pdf', document)), { word: 'provider_unavailable' })
    t.same(await filesIn(root), ['F-1.pdf'])
    t.equal(await readFile(join(root, '7/F-1.pdf'), 'utf8'), 'before')
  })
}

await t.test('a call that is given up on the way leaves nothing behind', async (t) => {
  const call = new AbortController()
  const { root, files } = await begin(t, {
    ended: call.signal,
    documents: {
      read: () =>
        Promise.resolve(Readable.from((function* () {
          yield bytes
          call.abort()
        })()))
    }
  })
  has(t, await failed(files.put('F-1.pdf', pdf)), { word: 'provider_unavailable' })
  has(t, await failed(files.put('F-1.pdf', pdf)), { word: 'provider_unavailable', ours: true, message: /after its call had ended/ })
  t.same(await filesIn(root), [])
})

await t.test('without a disk nothing is written: one that is not set, or not mounted', async (t) => {
  has(t, await failed(
    createFiles({
      provider: 'disk',
      documents: { read: () => Promise.reject(new Error()) },
      progress: createProgress({ passed: true }),
      ended: new AbortController().signal,
      holds: () => true
    }).put('F-1.pdf', pdf)
  ), { word: 'provider_unavailable', ours: true, message: /DISPATCH_DISK_ROOT/ })
  const root = await directory(t)
  t.strictSame(await failed(filesOf(join(root, 'missing')).put('F-1.pdf', pdf)), {
    word: 'provider_unavailable',
    message: 'The file could not be written (ENOENT).'
  })
  t.same(await readdir(root), [])
})

await t.test('what fails when the document gets its name is in doubt', async (t) => {
  const progress = createProgress({ passed: true })
  const { root, files } = await begin(t, { progress })
  await mkdir(join(root, '7/F-1.pdf'), { recursive: true })
  has(t, await failed(files.put('F-1.pdf', pdf)), { word: 'outcome_unknown' })
  has(t, progress.uncertain, { word: 'outcome_unknown' })
  t.same(await filesIn(root), [])
})
