import { callbackTypes, testType } from '@dispatch/contract'
import { execFile } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { contains } from '../../../../test/support/matching.ts'
import { operationsOf } from '../../../../test/support/openapi.ts'
import { quickRenderer } from '../../../../test/support/quick-renderer.ts'
import { startService } from '../../../../test/support/service.ts'

const root = fileURLToPath(new URL('../../../..', import.meta.url))
const service = await startService(t, { replacements: { renderer: quickRenderer } })

type Ended = { stdout: string, stderr: string, code?: number }

const folder = mkdtempSync(join(tmpdir(), 'dispatch-client-test-'))
t.teardown(() => rmSync(folder, { recursive: true }))
/** The package as it is published, and the project of somebody who installs it. */
const [made, project] = [join(folder, 'made'), join(folder, 'project')]
mkdirSync(project)

function run (command: string, words: readonly string[], cwd: string, more: Record<string, string> = {}): Promise<Ended> {
  return promisify(execFile)(command, words, { cwd, env: { ...process.env, NODE_OPTIONS: '', INIT_CWD: undefined, ...more } }).catch(
    (error: unknown) => error as Ended
  )
}

await t.test('the package is made of a running service, is packed, and installs in an empty folder', async (t) => {
  const built = await run(process.execPath, [join(root, 'scripts/client.ts'), made, '--from', service.url], folder)
  t.equal(built.code, undefined, built.stderr)
  const packed = await run('npm', ['pack', '--json', '--pack-destination', folder], made)
  t.equal(packed.code, undefined, packed.stderr)
  const [{ filename, files }] = JSON.parse(packed.stdout)
  t.strictSame(files.map(({ path }: { path: string }) => path).filter((path: string) => !path.startsWith('dist/')).sort(), ['LICENSE',
    'README.md', 'package.json'])
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }')
  const installed = await run('npm', ['install', '--offline', '--no-audit', '--no-fund', join(folder, filename)], project)
  t.equal(installed.code, undefined, installed.stderr)
  t.strictSame(Object.keys(JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8')).packages), ['',
    'node_modules/@dispatch/client'])
})

const dist = join(project, 'node_modules/@dispatch/client/dist')

await t.test('its code has at most 12 KB, compressed, without the command', (t) => {
  const code = globSync('**/*.js', { cwd: dist, exclude: ['**/command/**'] }).map((path) => readFileSync(join(dist, path)))
  const size = gzipSync(Buffer.concat(code), { level: 9 }).length
  t.ok(size <= 12 * 1024, `${size} bytes`)
  t.end()
})

await t.test('every operation of the document is a method of its own', async (t) => {
  const { body: document } = await service.send('GET', '/openapi/1.1.0.json', {}, null)
  const { createClient } = await import(join(dist, 'index.js'))
  const client = createClient({ baseUrl: service.url })
  const methods = Object.values(client).flatMap((group) => typeof group === 'object' ? Object.values(group!) : [])
  t.equal(methods.length, operationsOf(document).length)
  for (const group of ['dispatch', 'validate', 'dispatches', 'templates', 'keys']) t.type(client[group], 'object', group)
  t.type(client.dispatches.list, 'function')
  t.type(client.dispatches.follow, 'function')
  t.type(client.validate.fileEmail, 'function')
})

await t.test('every callback of the service is known to it', async (t) => {
  const { signCallback, verifyCallback } = await import(join(dist, 'index.js'))
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  for (const type of [...callbackTypes, testType]) {
    const { headers, body } = await signCallback({ type }, secret)
    t.equal((await verifyCallback(headers, body, secret)).type, type)
  }
})

let typesKey = ''
await t.test('its command runs, and writes types of templates that compile and that their samples have', async (t) => {
  const { body: { key } } = await service.send('POST', '/api/v1/keys', { body: { name: 'Types', mode: 'test' } })
  typesKey = key
  const env = { DISPATCH_URL: service.url, DISPATCH_KEY: key, XDG_CONFIG_HOME: folder }
  const { code, stderr } = await run(join(project, 'node_modules/.bin/dispatch'), ['types', '--out', 'templates.ts'], project, env)
  t.equal(code, undefined, stderr)
  const { body: { data: shipped } } = await service.send('GET', '/api/v1/templates?limit=100')
  const samples = await Promise.all(shipped.map(async ({ id, name }: { id: number, name: string }) => {
    const { body: { sample } } = await service.send('GET', `/api/v1/templates/${id}`)
    const type = `${name.replaceAll(/[^\w ]/g, '').replaceAll(/(?:^| )(\w)/g, (_, letter: string) => letter.toUpperCase())}Data`
    // By the command, and as the package has them.
    return `export const own${id}: own.${type} = ${JSON.stringify(sample)}\nexport const shipped${id}: ${type} = own${id}\n`
  }))
  writeFileSync(join(project, 'typed.ts'), `import type * as own from './templates.js'
import type { ${[...samples.join('').matchAll(/shipped\d+: (\w+)/g)].map(([, type]) => type).join(', ')} } from '@dispatch/client'
${samples.join('')}
export const data: InvoiceData = own1
// @ts-expect-error The rules of an e-invoice want its seller.
export const sellerless: EinvoiceData = { number: '1', date: '2026-01-01', customer: { name: 'Ada Lovelace' }, lines: [] }
// @ts-expect-error A field that is misspelt.
export const misspelt: InvoiceData = { ...data, custmer: { name: 'Ada Lovelace' } }
`)
})

await t.test('who reads only the beginning of what the command writes makes no noise', async (t) => {
  const { code, stderr } = await run('bash', ['-c', 'node_modules/.bin/dispatch types | true'], project, {
    DISPATCH_URL: service.url,
    DISPATCH_KEY: typesKey,
    XDG_CONFIG_HOME: folder
  })
  t.strictSame([code, stderr], [undefined, ''])
})

/** What the examples of the README print, in their order. */
const printed = [
  /^[-\w]{36} succeeded [-\w]{36}\n$/,
  /^provider_error .*declined.*\n$/s,
  /^\d+ \S+\n([-\w]{36} \S+\n)+$/,
  /^(queued|running|succeeded)\n(.*\n)*succeeded \S+\n$/,
  /^succeeded\n$/,
  /^12 credits are left\n$/
]

/** What does not compile: the service would refuse it, or does not answer it. */
const refused = `
import { createClient, type CallError, type CallbackEvent, type UnknownCallback } from '@dispatch/client'
const client = createClient({ baseUrl: 'http://127.0.0.1', key: 'dk_test_1' })
// @ts-expect-error An e-mail needs a sender.
void client.dispatch.email({ to: 'ada@example.com', subject: 'Hello', body: 'Hello' })
// @ts-expect-error There is no such status.
void client.dispatches.list({ status: 'lost' })
// @ts-expect-error A search says for what.
void client.platform.search()
// @ts-expect-error A login has a password.
createClient({ baseUrl: 'http://127.0.0.1', login: { email: 'ada@example.com' } })
const finished = await client.dispatch.sms({ sms: { phoneNumber: '+33612345678', message: 'Hello' } })
export const id: string | undefined = finished.providerResponse?.id
const queued = await client.dispatch.sms({ sms: { phoneNumber: '+33612345678', message: 'Hello' } }, { async: true })
// @ts-expect-error A queued dispatch has no answer of a provider yet.
void queued.providerResponse
if (queued.status === 'queued') void queued.statusUrl
else if (queued.status === 'succeeded') void queued.providerResponse
export function told (error: CallError): readonly string[] {
  // @ts-expect-error Only what succeeded in part has steps.
  void error.steps
  return error.error === 'partially_dispatched' ? error.steps.map(({ service }) => service) : []
}
export function balance (event: CallbackEvent | UnknownCallback): number | string {
  // @ts-expect-error There is no such event.
  if (event.type === 'company.moved') return 0
  return event.type === 'company.credits_low' ? event.data.balance : event.type === 'unknown' ? event.message : event.type
}
`

await t.test('the examples of its README compile, as strictly as can be, for Node and for browsers', async (t) => {
  const page = readFileSync(join(root, 'core/packages/client/README.md'), 'utf8').replaceAll('http://127.0.0.1:3000', service.url)
  const examples = [...page.matchAll(/^```ts run\n([^]*?)^```$/gm)].map(([, code = '']) => code)
  t.equal(examples.length, printed.length)
  for (const [index, code] of examples.entries()) writeFileSync(join(project, `example-${index}.ts`), code)
  writeFileSync(join(project, 'refused.ts'), refused)
  symlinkSync(join(root, 'node_modules/@types'), join(project, 'node_modules/@types'))
  symlinkSync(join(root, 'node_modules/undici-types'), join(project, 'node_modules/undici-types'))
  const strict = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, target: 'es2023', module: 'nodenext' }
  const settings = {
    node: { compilerOptions: { ...strict, lib: ['es2023'], types: ['node'], outDir: 'out' }, include: ['*.ts'] },
    browser: {
      compilerOptions: { ...strict, lib: ['es2023', 'dom', 'dom.iterable'], types: [], noEmit: true },
      include: ['refused.ts', 'example-1.ts']
    }
  }
  for (const [name, config] of Object.entries(settings)) {
    writeFileSync(join(project, `${name}.json`), JSON.stringify(config))
    const { stdout, code } = await run(join(root, 'node_modules/.bin/tsc'), ['-p', `${name}.json`], project)
    t.equal(code, undefined, stdout)
  }
})

for (const [index, prints] of printed.entries()) {
  await t.test(`example ${index + 1} runs as it is written`, async (t) => {
    const { stdout, stderr, code } = await run(process.execPath, [join('out', `example-${index}.js`)], project)
    t.equal(code, undefined, stderr)
    contains(t, stdout, prints)
  })
}
