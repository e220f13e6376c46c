import { conformanceRules, runConformance } from '@dispatch/conformance'
import * as contract from '@dispatch/core/provider'
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import ts from 'typescript'
import { deliveryServices, deliveryStatusesOf } from '../../core/packages/contract/delivery.ts'
import { loadProvider } from '../../core/packages/host/load/load.ts'
import { deriveManifest } from '../../core/packages/host/manifest/derive.ts'
import { createKeySources } from '../../core/packages/host/webhook/keys.ts'
import type { Verifier } from '../../core/packages/host/webhook/language.ts'
import { createVendorSigningKey, signDelivery, withKeysOf } from '../../core/packages/host/webhook/sign.ts'
import { verifyWebhook } from '../../core/packages/host/webhook/verify.ts'
import { directory, provide } from '../fixtures/providers/folders.ts'
import { contains } from '../support/matching.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const page = await readFile(join(root, 'providers/README.md'), 'utf8')
const blocks = [...page.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map(([, info = '', text = '']) => ({ info, text }))

/** A command of the page, in a directory that stands for the project, with another beside it; the exit code and what it prints. */
async function command (line: string, project: string): Promise<{ code: number, printed: string }> {
  const [, given = ''] = /^npm run provider (?:-- )?(.*)$/.exec(line.replace('/elsewhere', join(project, 'elsewhere'))) ?? []
  const options = given.startsWith('new ') && !given.includes('--in ') ? ['--in', join(project, 'providers')] : []
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [join(root, 'scripts/provider.ts'), ...given.split(' '), ...options], {
      env: { ...process.env, INIT_CWD: project }
    })
    return { code: 0, printed: stdout }
  } catch (error) {
    const { code, stdout } = error as { code: number, stdout: string }
    return { code, printed: stdout }
  }
}

/** Writes the blocks that name a file. */
async function writeFiles (folder: string): Promise<void> {
  for (const { info, text } of blocks) {
    const [, file] = /file=(\S+)/.exec(info) ?? []
    if (file === undefined) continue
    await mkdir(dirname(join(folder, file)), { recursive: true })
    await writeFile(join(folder, file), text)
  }
}

await t.test('the guide leads from nothing to a provider that passes, here and elsewhere', async (t) => {
  const project = await directory(t)
  await writeFiles(join(project, 'elsewhere'))
  const results: { line: string, code: number, printed: string }[] = []
  for (const { info, text } of blocks) {
    const [, code] = /fill=(\S+)/.exec(info) ?? []
    if (code !== undefined) {
      const entry = join(project, 'providers', code, 'index.ts')
      const source = await readFile(entry, 'utf8')
      t.ok(source.includes('const json = {}\n'))
      await writeFile(entry, source.replace('const json = {}\n', text))
    }
    if (info === 'sh run') { for (const line of text.trim().split('\n')) results.push({ line, ...await command(line, project) }) }
  }
  t.strictSame(results.map(({ code }) => code), [0, 1, 0, 0, 0])
  contains(t, results[1]?.printed, /✗ replay[^✗]+✗ send\.accepted[^✗]+, 1 failed/)
  contains(t, results[2]?.printed, /, 0 failed/)
  contains(t, results[3]?.printed, /^acme\n[^]*, 0 failed/)
  t.ok(existsSync(join(project, 'elsewhere/sparrow/index.ts')))
})

await t.test('the whole example of the guide passes the kit, with nothing left out but what it does not have', async (t) => {
  const folder = await directory(t)
  await writeFiles(folder)
  const { provider, cases } = await runConformance(join(folder, 'pigeon-post'))
  t.equal(provider, 'pigeon-post')
  t.strictSame(cases.filter(({ status }) => status === 'failed'), [])
  t.strictSame(new Set(cases.filter(({ status }) => status === 'skipped').map(({ rule }) => rule)),
    new Set(['sandbox', 'blind', 'checked', 'forged', 'said', 'directed', 'incoming', 'subscribed', 'suggested']))
  t.ok(cases.length > 100)
})

await t.test('the example of a document in JSON passes the kit', async (t) => {
  const folder = await directory(t)
  await writeFiles(folder)
  const { provider, cases } = await runConformance(join(folder, 'pigeon-hole'))
  t.equal(provider, 'pigeon-hole')
  t.strictSame(cases.filter(({ status }) => status === 'failed'), [])
  for (const shown of ['documents', 'checked']) t.ok(cases.some(({ rule, status }) => rule === shown && status === 'passed'), shown)
})

await t.test('the example of XML passes the kit', async (t) => {
  const folder = await directory(t)
  await writeFiles(folder)
  const { provider, cases } = await runConformance(join(folder, 'pigeon-cable'))
  t.equal(provider, 'pigeon-cable')
  t.strictSame(cases.filter(({ status }) => status === 'failed'), [])
  t.ok(cases.some(({ rule, status }) => rule === 'mapped' && status === 'passed'))
})

await t.test('the example of a connected account passes the kit', async (t) => {
  const folder = await directory(t)
  await writeFiles(folder)
  const { provider, cases } = await runConformance(join(folder, 'pigeon-loft'))
  t.equal(provider, 'pigeon-loft')
  t.strictSame(cases.filter(({ status }) => status === 'failed'), [])
})

/** The types whose fields an integrator writes or is given. */
const described = [
  ['packages/host/manifest/definition', 'ProviderDefinition'],
  ['packages/host/manifest/definition', 'ServiceDefinition'],
  ['packages/host/manifest/context', 'Context'],
  ['packages/vendor-io/http/sign-in', 'SignInFields'],
  ['packages/vendor-io/http/body', 'BodyFields'],
  ['packages/vendor-io/http/call', 'HttpCall'],
  ['packages/host/webhook/webhook', 'Webhook']
] as const

/** The fields of a type, as its source names them. */
function fieldsOf (file: string, type: string): string[] {
  const source = ts.createSourceFile(file, readFileSync(join(root, `core/${file}.ts`), 'utf8'), ts.ScriptTarget.Latest)
  const written = source.statements.filter(ts.isTypeAliasDeclaration).find(({ name }) => name.text === type)?.type
  const parts = written !== undefined && ts.isIntersectionTypeNode(written) ? [...written.types] : [written]
  const names = parts.flatMap((part) => part !== undefined && ts.isTypeLiteralNode(part) ? [...part.members] : [])
    .flatMap(({ name }) => name !== undefined && ts.isIdentifier(name) ? [name.text] : [])
  if (names.length === 0) throw new Error(`No fields of ${type} are found.`)
  return names
}

/** Whether a name stands in the guide as code. */
function named (name: string): boolean {
  return new RegExp(`\`[^\`\n]*\\b${name}\\b[^\`\n]*\``).test(page) || blocks.some(({ text }) => new RegExp(`\\b${name}\\b`).test(text))
}

await t.test('what the guide shows of a service alone is taken as a part of one', async (t) => {
  const parts = blocks.flatMap(({ info, text }) => {
    const [, name] = /of=(\S+)/.exec(info) ?? []
    return name === undefined ? [] : [{ name, text: text.trimEnd() }]
  })
  t.same(parts.map(({ name }) => name), ['postal', 'postal', 'postal', 'invoicing'])
  const declared: Readonly<Record<string, string>> = {
    postal: 'mailTypes: [\'SIMPLE\', \'REGISTERED\']',
    invoicing: 'documentTypes: [\'INVOICE\']'
  }
  for (const { name, text } of parts) {
    const head = 'import { defineProvider, Type } from \'@dispatch/core/provider\'\n'
    const own = `${declared[name] ?? ''}, idempotency: { kind: 'none' }, dispatch: () => ({ id: '1', status: 'sent' }),\n${text}`
    const request = 'requestSettings: Type.Object({ express: Type.Optional(Type.Boolean()) })'
    const folder = await provide(await directory(t), 'pigeon', {
      'index.js':
        `${head}export default defineProvider({ code: 'pigeon', name: 'Pigeon', settings: Type.Object({}), ${request}, services: { ` +
        `${name}: { ${own} } } })\n`
    })
    const { manifest } = await loadProvider(folder, '', 10)
    const { limits, ignores, carries } = { ...manifest.services.postal, ...manifest.services.invoicing }
    const { addressPage } = manifest.services.postal?.capabilities ?? {}
    t.equal((limits ?? ignores ?? carries)?.length, addressPage !== undefined ? undefined : name === 'postal' ? 2 : 3)
  }
})

await t.test('every block of the guide is run, and every name of the contract stands in it', (t) => {
  for (const { info } of blocks) {
    t.ok(info === 'sh run' || /^(json|js|ts) ((file|fill|of)=|verifier|errors$)/.test(info) || info === '', info)
  }
  t.equal(blocks.filter(({ info }) => info === '').length, 1, 'but for the picture of a folder')
  for (const name of Object.keys(contract)) t.ok(named(name), name)
  for (const [file, type] of described) for (const name of fieldsOf(file, type)) t.ok(named(name), `${type}: ${name}`)
  t.end()
})

await t.test('the guide lists the delivery statuses of each service, and how they are reported', (t) => {
  const [, section = ''] = /^## Delivery statuses\n([^]*?)^## /m.exec(page) ?? []
  const rows = [...section.matchAll(/^\| `(\w+)` \| ([^|]+) \| ([^|]+) \|$/gm)].map(([, service = '', statuses = '', by = '']) => [
    service,
    { statuses: statuses.replaceAll(/ \([^)]*\)/g, '').split(', '), by }
  ])
  const expected = deliveryServices.map((service) => [
    service,
    { statuses: deliveryStatusesOf(service), by: 'events and polling' }
  ])
  t.strictSame(Object.fromEntries(rows), Object.fromEntries(expected))
  t.end()
})

await t.test('the guide names every rule of the kit', (t) => {
  const named = Object.fromEntries(
    [...page.matchAll(/^\| `(\w+)` \| ([^|]+) \|$/gm)].filter(([, rule = '']) => Object.hasOwn(conformanceRules, rule)).map(
      ([, rule = '', text = '']) => [rule, text]
    )
  )
  t.strictSame(named, { ...conformanceRules })
  t.end()
})

await t.test('the errors of the guide can be declared', (t) => {
  const [example, ...others] = blocks.filter(({ info }) => info === 'ts errors')
  t.same(others, [])
  const errors: unknown = runInNewContext(`(${example?.text ?? ''})`, { Type: contract.Type })
  const fit = deriveManifest({
    code: 'acme',
    name: 'Acme',
    settings: contract.Type.Object({}),
    errors,
    services: { upload: { idempotency: { kind: 'none' }, dispatch: () => ({ id: '1', status: 'stored' }) } }
  }, '1.0.0')
  t.strictSame(fit.ok ? fit.value.errors.refusals?.length : fit.problems, 2)
  t.end()
})

await t.test('each verifier of the guide can be declared, and what the kit signs by it is verified', async (t) => {
  const examples = blocks.filter(({ info }) => info.startsWith('ts verifier'))
  t.equal(examples.length, 5)
  const key = createVendorSigningKey('kit')
  const settings = { signingKey: 'a secret', verificationKey: '', region: 'eu-west-3' }
  const now = new Date('2026-03-14T09:30:00Z')
  for (const { info, text } of examples) {
    const form = info.endsWith(' form') ? 'form' as const : 'json' as const
    // The page is ours.
    const verify = runInNewContext(`(${text})`) as Verifier
    const dispatch = (): Promise<contract.Accepted> => Promise.resolve({ id: '1', status: 'sent' })
    const fit = deriveManifest({
      code: 'acme',
      name: 'Acme',
      settings: contract.Type.Object({
        signingKey: contract.Secret(),
        verificationKey: contract.Type.String(),
        region: contract.Host({ title: 'Region' })
      }),
      services: { sms: { idempotency: { kind: 'none' }, dispatch } },
      webhooks: { sms: { form, verify: JSON.parse(JSON.stringify(verify)), body: contract.Type.Object({}), read: () => ({}), events: {} } }
    }, '1.0.0')
    t.strictSame(fit.ok ? [] : fit.problems, [], text)
    const known = withKeysOf(key, verify)
    const content = Buffer.from(form === 'form' ? 'b=2&a=1' : JSON.stringify({ Type: 'Notification', Message: 'm' }))
    const request = await signDelivery([known], content, { key, settings, endpoint: '' }, now, { form })
    const keys = createKeySources({
      fetchJson: () => Promise.reject(new Error('Nothing is fetched.')),
      now: () => now,
      onError: () => undefined
    })
    const { verdict } = await verifyWebhook([known], request, { settings: () => settings, keys, reading: { form } }, now)
    t.equal(verdict, 'verified', text)
  }
})
