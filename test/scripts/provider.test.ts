import { runConformance } from '@dispatch/conformance'
import { providedNames } from '@dispatch/services'
import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { scaffoldProvider } from '../../scripts/provider/scaffold.ts'
import { directory, provide } from '../fixtures/providers/folders.ts'
import { contains, has, lacks } from '../support/matching.ts'
import { fillIn } from '../support/scaffold.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)

async function provider (t: Test, ...given: string[]): Promise<{ code: number, stdout: string, stderr: string }> {
  const cwd = await directory(t)
  try {
    return {
      code: 0,
      ...await run(process.execPath, [join(root, 'scripts/provider.ts'), ...given], { cwd, env: { ...process.env, INIT_CWD: undefined } })
    }
  } catch (error) {
    return error as { code: number, stdout: string, stderr: string }
  }
}

for (const service of providedNames) {
  await t.test(`a new provider of "${service}" lacks the vendor's call alone, and passes the kit once that is filled in`, async (t) => {
    const folder = await scaffoldProvider({ code: 'acme', service, directory: await directory(t) })
    const failed = async () =>
      (await runConformance(folder)).cases.filter(({ status }) => status === 'failed').map(({ rule, name }) => `${rule}: ${name}`)
    t.strictSame(await failed(), ['replay: send.accepted'])
    await fillIn(folder)
    t.strictSame(await failed(), [])
  })
}

await t.test('the page of a new provider says what the kit does not demand: the delivery status, an event that the vendor has signed',
  async (t) => {
    const parent = await directory(t)
    const pageOf = async (service: string) =>
      await readFile(join(await scaffoldProvider({ code: service, service, directory: parent }), 'README.md'), 'utf8')
    contains(t, await pageOf('sms'),
      'Write `statuses` and the verb `status` too: without them no delivery status is ever known (queued, sent, ')
    contains(t, await pageOf('invoicing'), 'is ever known (received, ')
    contains(t, await pageOf('postal'), 'In place of `fixtures/webhook.signed.json`, an event that Postal has signed.')
    const page = await pageOf('email')
    contains(t, page, 'is ever known (delivered, ')
    lacks(t, page, 'an event that')
  })

await t.test('a folder that is there, a bad code and an unknown service are refused with a sentence', async (t) => {
  const parent = await directory(t)
  const made = (code: string, service: string) => scaffoldProvider({ code, service, directory: parent })
  await made('acme', 'sms')
  await t.rejects(made('acme', 'sms'), /acme is there already/)
  await t.rejects(made('Acme!', 'sms'), /"Acme!" is no code of a provider: lowercase letters/)
  await t.rejects(made('../up', 'sms'), /no code of a provider/)
  await t.rejects(made('other', 'fax'), /"fax" is no service that a provider does: invoicing, /)
  await t.rejects(made('other', 'file'), /"file" is no service that a provider does/)
  t.strictSame(await readdir(parent), ['acme'])
})

await t.test('what cannot be done is one line on the console, and exit code 2', async (t) => {
  has(t, await provider(t, 'new', 'Acme!', '--service', 'sms'), { code: 2, stderr: /^"Acme!" is no code of a provider[^\n]*\n$/ })
  has(t, await provider(t, 'new', 'other'), { code: 2, stderr: /npm run provider -- new <code> --service <service>/ })
  has(t, await provider(t, 'test', 'nowhere'), { code: 2, stderr: /^There is no folder \S+\/nowhere\.\n$/ })
})

await t.test('a new folder in providers/ changes nothing that is installed', async (t) => {
  const { packages } = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'))
  t.strictSame(packages[''].workspaces, ['core', 'core/packages/*', 'plugins'])
  t.strictSame(Object.keys(packages).filter((path) => path.startsWith('providers/')), [])
})

await t.test('without "--" npm hands on the values of the options alone', async (t) => {
  const parent = await directory(t)
  const { code, stdout } = await provider(t, 'new', 'acme', 'sms', parent)
  t.equal(code, 0)
  t.ok(stdout.endsWith(` npm run provider test ${join(parent, 'acme')}\n`), 'the path of a folder elsewhere is whole')
  contains(t, await readFile(join(parent, 'acme/index.ts'), 'utf8'), /sms: \{/)
})

await t.test('the report says what is wrong and where, and the exit code that something is', async (t) => {
  const folder = await scaffoldProvider({ code: 'acme', service: 'sms', directory: await directory(t) })
  const report = await provider(t, 'test', folder)
  t.equal(report.code, 1)
  const json = await provider(t, 'test', folder, 'replay', '--json')
  const { provider: code, cases } = JSON.parse(json.stdout)
  t.strictSame([json.code, code], [1, 'acme'])
  t.strictSame(cases.find((one: { name: string }) => one.name === 'send.accepted'), {
    rule: 'replay',
    name: 'send.accepted',
    status: 'failed',
    why: 'Request 1: The JSON at /to is missing; expected "+33612345678".\nRequest 1: The JSON at /text is missing; expected "Hello".'
  })
  contains(t, report.stdout, /^acme\n/)
  contains(t, report.stdout,
    /✗ replay: .*\(0 of 1\)\n {4}✗ send\.accepted\n {8}Request 1: The JSON at \/to is missing; expected "\+33612345678"\.\n/)
  contains(t, report.stdout, /\d+ passed, 1 failed, \d+ left out\n$/)
  await fillIn(folder)
  has(t, await provider(t, 'test', folder), { code: 0, stdout: /, 0 failed/ })
})

await t.test('single rules are tried alone; one that there is not is refused', async (t) => {
  const healthy = join(root, 'test/fixtures/zoo/healthy')
  const { code, stdout } = await provider(t, 'test', healthy, 'titles', 'secret')
  t.equal(code, 0)
  t.strictSame([...stdout.matchAll(/^✓ (\w+)/gm)].map(([, rule]) => rule), ['titles', 'secret'])
  has(t, await provider(t, 'test', healthy, 'beauty'), { code: 2, stderr: /no rule beauty; there are manifest, / })
})

await t.test('a folder that is no provider is a failed case, not a crash', async (t) => {
  const { code, stdout } = await provider(t, 'test', await directory(t))
  t.equal(code, 1)
  contains(t, stdout, /✗ manifest: .*\n {4}✗ the folder\n {8}package\.json cannot be read/)
})

await t.test('a provider that ends the process is told, and the command fails', async (t) => {
  const folder = await provide(await directory(t), 'ending', { 'index.js': 'process.reallyExit(0)' })
  const { code, stdout } = await provider(t, 'test', folder)
  t.equal(code, 1)
  contains(t, stdout, /✗ manifest: [^]*\/ending ends the process when it is loaded \(exit code 0\)\./)
})
