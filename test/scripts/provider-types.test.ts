import { providedNames } from '@dispatch/services'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { scaffoldProvider } from '../../scripts/provider/scaffold.ts'
import { fillIn } from '../support/scaffold.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Functions of a draft without types of their own; a wrong one does not fit. */
const drafted = `
import { draftFirst } from '@dispatch/core/provider'
export const verbs = draftFirst<'postal', typeof Settings>({
  async prepare ({ postal, document }, { settings, http, reference }) {
    const json = { to: postal.recipient.city, key: settings.apiKey, reference, document }
    return (await http.post('https://api.pigeon.example.com/letters', { json }, Type.Object({ id: Type.String() }))).id
  },
  find: () => Promise.resolve({ found: 'draft' }),
  issue: async (id, { postal }, { log }) => {
    log.info({}, postal.mailType)
    // @ts-expect-error
    log.info({}, postal.mailTipe)
    return { id, status: 'sent' }
  }
})
`

await t.test('new providers are sound TypeScript, before they are filled in and after', async (t) => {
  // Among the dependencies, where the core is found by its name.
  const cache = join(root, 'node_modules/.cache')
  await mkdir(cache, { recursive: true })
  const parent = await mkdtemp(join(cache, 'providers-'))
  t.teardown(() => rm(parent, { recursive: true }))
  for (const service of providedNames) {
    await scaffoldProvider({ code: service, service, directory: parent })
    await fillIn(await scaffoldProvider({ code: `${service}-filled`, service, directory: parent }))
  }
  const [, shown = ''] =
    /```ts file=pigeon-types\/types\.ts\n([^]*?)\n```/.exec(await readFile(join(root, 'providers/README.md'), 'utf8')) ?? []
  await mkdir(join(parent, 'guide'))
  await writeFile(join(parent, 'guide/index.ts'), `${shown}\n${drafted}`)
  await writeFile(join(parent, 'tsconfig.json'), JSON.stringify({
    extends: join(root, 'tsconfig.json'),
    compilerOptions: { incremental: false, typeRoots: [join(root, 'node_modules/@types')] },
    include: ['*/index.ts'],
    exclude: []
  }))
  // tap gives its loaders to every child process; the compiler does not run under them.
  const { stdout, stderr } = await promisify(execFile)('sh', [
    '-c',
    'NODE_OPTIONS= exec "$0" -p "$1"',
    join(root, 'node_modules/.bin/tsc'),
    parent
  ]).catch((error: unknown) => error as { stdout: string, stderr: string })
  t.equal(stdout + stderr, '')
})
