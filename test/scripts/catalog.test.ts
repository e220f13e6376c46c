import { writePackage } from '@dispatch/marketplace'
import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { manifestOf } from '../../core/packages/marketplace/test/support.ts'
import { directory } from '../fixtures/providers/folders.ts'
import { contains, has } from '../support/matching.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const script = join(root, 'scripts/catalog.ts')

type Ended = { code: number, stdout: string, stderr: string }
type Desk = { folder: string, catalog: (...given: string[]) => Promise<Ended> }

/** A folder with the folder `adapters` in it, and the command run there. */
async function desk (t: Test, ...versions: string[]): Promise<Desk> {
  const folder = await directory(t)
  await mkdir(join(folder, 'adapters'))
  for (const version of versions) await add(folder, version)
  return {
    folder,
    async catalog (...given) {
      try {
        const env = { ...process.env, INIT_CWD: undefined }
        return { code: 0, ...await promisify(execFile)(process.execPath, [script, ...given], { cwd: folder, env }) }
      } catch (error) {
        return error as Ended
      }
    }
  }
}

async function add (folder: string, version: string, code = 'export default {}\n'): Promise<void> {
  const { bytes } = writePackage(manifestOf({ conformance: { status: 'not_run' } }, { version }),
    new Map([['index.js', Buffer.from(code)]]))
  await writeFile(join(folder, `adapters/acme-${version}.tgz`), bytes)
}

/** The commands of the package's page. */
async function pageCommands (): Promise<string[][]> {
  const page = await readFile(join(root, 'core/packages/marketplace/README.md'), 'utf8')
  const [, commands = ''] = /^```sh run\n([^]*?)^```$/m.exec(page) ?? []
  return [...commands.matchAll(/^npm run catalog -- (.+)$/gm)].map(([, given = '']) => given.split(' '))
}

await t.test('the four commands of the page make a catalog of one\'s own', async (t) => {
  const { folder, catalog } = await desk(t, '1.0.0', '1.1.0')
  const commands = await pageCommands()
  t.equal(commands.length, 4)
  const ended = []
  for (const given of commands) ended.push(await catalog(...given))
  t.same(ended.map(({ code, stderr }) => [code, stderr]), [[0, ''], [0, ''], [0, ''], [0, '']])
  contains(t, ended.at(-1)?.stdout, /^Catalog 1, good until .*: 1 adapters, 2 versions, no faults\.\n$/)
  t.same((await readdir(folder)).sort(), ['adapters', 'ours.private.json', 'ours.public.json'])
  t.same((await readdir(join(folder, 'adapters'))).sort(), ['acme-1.0.0.tgz', 'acme-1.1.0.tgz', 'catalog.json', 'catalog.jws'])
})

await t.test('a private key is for its owner alone, and is never replaced', async (t) => {
  const { folder, catalog } = await desk(t)
  await catalog('keygen', 'ours')
  const before = await readFile(join(folder, 'ours.private.json'), 'utf8')
  t.equal((await stat(join(folder, 'ours.private.json'))).mode & 0o777, 0o600)
  has(t, await catalog('keygen', 'ours'), { code: 2, stderr: /ours\.private\.json is there already/ })
  await rm(join(folder, 'ours.private.json'))
  has(t, await catalog('keygen', 'ours'), { code: 2, stderr: /ours\.public\.json is there already/ })
  t.same(await readdir(folder), ['adapters', 'ours.public.json'])
  contains(t, before, '"d": "')
})

await t.test('the check names each fault, and ends with exit code 1', async (t) => {
  const { folder, catalog } = await desk(t, '1.0.0', '1.1.0', '1.2.0')
  const withdrawn = { code: 'acme', versions: '1.2.0', reason: 'It leaked keys.', at: '2026-11-23T00:00:00Z' }
  await writeFile(join(folder, 'adapters/catalog.config.json'), JSON.stringify({ revoked: [withdrawn] }))
  await catalog('keygen', 'ours')
  await catalog('build', 'adapters')
  await catalog('sign', 'adapters', '--key', 'ours.private.json')
  await add(folder, '1.0.0', 'export default { changed: true }\n')
  for (const version of ['1.1.0', '1.2.0']) await rm(join(folder, `adapters/acme-${version}.tgz`))
  const { code, stderr, stdout } = await catalog('check', 'adapters', 'ours.public.json')
  t.equal(code, 1)
  t.same(stderr.trim().split('\n').map((line) => line.split(': ').slice(0, 2)), [
    ['source_unavailable', 'acme 1.1.0'],
    ['source_length', 'acme 1.0.0']
  ])
  contains(t, stdout, /3 versions, 2 faults\.\n$/)
  await catalog('keygen', 'others')
  has(t, await catalog('check', 'adapters', 'others.public.json'), { code: 1, stderr: /^key_unknown: catalog: / })
  has(t, await catalog('build', 'adapters'), { code: 2, stderr: /^acme-1\.0\.0\.tgz: version 1\.0\.0 was listed before with other bytes/ })
})

await t.test('the kit is run on each package: one that fails it gets no statement, and of a known publisher no place', async (t) => {
  const { folder, catalog } = await desk(t)
  const { bytes } = writePackage(manifestOf(), new Map([['index.js', Buffer.from('export default {}\n')]]))
  await writeFile(join(folder, 'adapters/acme.tgz'), bytes)
  has(t, await catalog('build', 'adapters'), {
    code: 0,
    stdout: /^acme\.tgz: nothing is said of conformance, because it failed 1 cases of the kit\.\n/
  })
  await writeFile(join(folder, 'adapters/catalog.config.json'), JSON.stringify({ publishers: [{ id: 'Acme Ltd', tier: 'verified' }] }))
  has(t, await catalog('build', 'adapters'), { code: 2, stderr: /^acme\.tgz: it has not passed the conformance kit here/ })
})

await t.test('the next catalog has the next serial, and the keys that the plan names', async (t) => {
  const { folder, catalog } = await desk(t, '1.0.0')
  for (const name of ['old', 'new']) await catalog('keygen', name)
  const keys = await Promise.all(
    ['old', 'new'].map(async (name) => JSON.parse(await readFile(join(folder, `${name}.public.json`), 'utf8')))
  )
  await catalog('build', 'adapters')
  await writeFile(join(folder, 'adapters/catalog.config.json'), JSON.stringify({ keys }))
  const { stdout } = await catalog('build', 'adapters', '--days', '1')
  contains(t, stdout, /^Catalog 2 has 1 adapters and is good until /)
  const built = JSON.parse(await readFile(join(folder, 'adapters/catalog.json'), 'utf8'))
  t.same(built.keys, keys)
  t.equal(Date.parse(built.expires) - Date.parse(built.issued), 24 * 3600 * 1000)
})

await t.test('what cannot be done is one sentence, and exit code 2', async (t) => {
  const { folder, catalog } = await desk(t)
  const cases: [given: string[], stderr: RegExp][] = [
    [[], /^What is to be done\?\nnpm run catalog -- keygen <name>/],
    [['sign', 'adapters'], /^What is to be done\?/],
    [['build', 'adapters'], /^\S+adapters has no tarball: "npm run provider pack" makes one\.\n$/],
    [['build', 'adapters', '--days', '0'], /^"--days" is a whole number from 1 to 90\.\n$/],
    [['sign', 'adapters', '--key', 'ours.private.json'], /^\S+adapters has no catalog\.json/]
  ]
  for (const [given, stderr] of cases) has(t, await catalog(...given), { code: 2, stderr }, given.join(' '))
  await writeFile(join(folder, 'adapters/catalog.config.json'), '{ "revokd": [] }')
  has(t, await catalog('build', 'adapters'), {
    code: 2,
    stderr: /catalog\.config\.json: \/revokd Unknown field "revokd" \(did you mean "revoked"\?\)/
  })
})
