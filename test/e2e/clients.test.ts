import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { quickRenderer } from '../support/quick-renderer.ts'
import { startService } from '../support/service.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const service = await startService(t, { config: { runsWorker: false }, replacements: { renderer: quickRenderer } })

/** A project of somebody who calls the service: programs, and what is generated for them. */
const project = mkdtempSync(join(tmpdir(), 'dispatch-clients-'))
t.teardown(() => rmSync(project, { recursive: true }))
cpSync(join(root, 'test/fixtures/clients'), project, { recursive: true })
symlinkSync(join(root, 'node_modules'), join(project, 'node_modules'))

type Ended = { stdout: string, stderr: string, code?: number }

/** Runs a command in the project, by way of a shell: what the test runner has the processes load that it sees itself, tsc cannot. */
const run = (command: string, ...words: string[]): Promise<Ended> =>
  promisify(execFile)('sh', ['-c', 'NODE_OPTIONS= exec "$0" "$@"', command, ...words], { cwd: project }).catch((error: unknown) =>
    error as Ended
  )
/** The commands of the README, and the compiler. */
const [generators = ''] = /(?<=## A typed client\n[^]*?```sh\n)[^`]*/.exec(readFileSync(join(root, 'README.md'), 'utf8')) ?? []
const commands = [
  ...generators.trim().split('\n').map((line) => line.replace(/^npx /, '').replace('http://127.0.0.1:3000', service.url)),
  'tsc -p .'
]

await t.test('the types of openapi-typescript and the client of @hey-api/openapi-ts are generated and compile, with the ' +
  'programs that use them', async (t) => {
  t.equal(commands.length, 3)
  for (const command of commands) {
    const [name = '', ...words] = command.split(' ')
    const { stdout, stderr, code = 0 } = await run(join(root, 'node_modules/.bin', name.replace(/^@.*\//, '')), ...words)
    t.equal(code, 0, `${command} ${stdout}${stderr}`)
  }
})

for (const name of ['openapi-fetch', 'hey-api']) {
  await t.test(`${name}: ten calls against the service answer what they say`, async (t) => {
    const { stdout, stderr } = await run(process.execPath, join(project, 'out', `${name}.js`), service.url)
    t.equal(stderr, '')
    t.strictSame(JSON.parse(stdout), {
      userId: 2,
      validation: true,
      invoice: 'succeeded',
      dispatch: ['invoicing accepted'],
      timeline: ['planned', 'rendered', 'calling'],
      found: [true],
      chain: ['file', 'email'],
      contract: 'queued',
      missing: [404, 'not_found']
    })
  })
}
