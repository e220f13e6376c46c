import { rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pino from 'pino'
import t, { type Test } from 'tap'
import { callDispatch } from '../../../core/host/call/call.ts'
import { createHost, type Host, type HostOptions } from '../../../core/host/host.ts'
import { callContext, invoice, memoryLog } from '../../fixtures/providers/call.ts'
import { directory, type Files, provide, source } from '../../fixtures/providers/folders.ts'
import { contains, has } from '../../support/matching.ts'

const hostOf = (directories: readonly string[], more: Partial<HostOptions> = {}): Promise<Host> =>
  createHost({ directories, log: memoryLog(), ...more })

const reasons = (host: Host): Record<string, string> =>
  Object.fromEntries(host.entries().flatMap((entry) => entry.state === 'refused' ? [[entry.folder, entry.reason]] : []))

await t.test('a folder with a package.json and a default export is a provider', async (t) => {
  const root = await directory(t)
  const folder = await provide(root, 'acme')
  const host = await hostOf([root])
  const acme = host.find('acme')
  has(t, acme, { state: 'installed', folder, code: 'acme', version: '1.0.0', manifest: { name: 'Sample acme' } })
  t.ok(Object.isFrozen(acme))
  t.same(host.entries(), [acme])
  t.equal(host.find('nobody'), undefined)
})

const forms: Record<string, Files> = {
  'TypeScript with types': {
    'package.json': { exports: './index.ts' },
    'index.js': '',
    'index.ts': 'import type { State } from ' +
      `'@dispatch/core/provider'\n${
        source('acme', 'const state: State = context.state; return { id: String(await state.get("x") ?? 1), status: "sent" }')
      }`
  },
  'CommonJS': {
    'package.json': { type: 'commonjs', exports: undefined, main: 'main.js' },
    'main.js':
      `const { defineProvider, Type } = require('@dispatch/core/provider')\nmodule.exports = defineProvider({ code: 'acme', name: ` +
      `'Acme', settings: Type.Object({}), services: { invoicing: { documentTypes: ['QUOTE'], idempotency: { kind: 'none' }, ` +
      `dispatch: async () => ({ id: '1', status: 'sent' }) } } })`
  },
  'exports with conditions': {
    'package.json': { exports: { '.': { types: './index.d.ts', import: { default: './lib/index.js' } } } },
    'index.js': '',
    'lib/index.js': source('acme')
  },
  'the default entry': { 'package.json': { exports: undefined } },
  'data alone, without the SDK': {
    'index.js': 'export default { code: "acme", name: "Acme", settings: { type: "object", properties: {} }, services: { invoicing: { ' +
      'documentTypes: ["CREDIT"], idempotency: { kind: "none" }, async dispatch () { return { id: "1", status: "sent" } } } } }'
  },
  'an object whose verbs use each other': {
    'index.js': `import provider from './rest.js'\nprovider.services.invoicing = { documentTypes: ['INVOICE'], idempotency: { kind: ` +
      `'lookup', visibleAfter: 0 }, dispatch () { return this.lookup() }, lookup: () => ({ id: '1', status: 'sent' }) }\nexport ` +
      'default provider',
    'rest.js': source('acme')
  },
  'its own copy of the SDK, which is not used': {
    'node_modules/@dispatch/core/package.json': '{"name":"@dispatch/core","exports":{"./provider":"./provider.js"}}',
    'node_modules/@dispatch/core/provider.js': 'throw new Error("the copy was loaded")'
  }
}

for (const [form, files] of Object.entries(forms)) {
  await t.test(`a provider may be written as: ${form}`, async (t) => {
    const root = await directory(t)
    await provide(root, 'acme', files)
    const host = await hostOf([root])
    t.same(reasons(host), {})
    const outcome = await callDispatch(host.find('acme')!, 'invoicing', invoice(), callContext())
    t.same(outcome, { outcome: 'accepted', response: { id: '1', status: 'sent' } })
  })
}

const manifestOf = (changes: string): string =>
  `${source('acme').replace('export default', 'const definition =')}\nexport default { ...definition, ${changes} }`

const broken: Record<string, [Files, RegExp]> = {
  'an unreadable package.json': [{ 'package.json': '{ not json' }, /^package\.json cannot be read: /],
  'a package.json without a version': [
    { 'package.json': { version: undefined } },
    /^package\.json: \/version The field "version" is required\.$/
  ],
  'a version that is none': [{ 'package.json': { version: 'latest' } }, /"latest" is not a semantic version/],
  'no range of the contract': [
    { 'package.json': { peerDependencies: {} } },
    /names no range of @dispatch\/core in peerDependencies; "\^\d/
  ],
  'a range that is none': [{ 'package.json': { peerDependencies: { '@dispatch/core': 'newest' } } }, /"newest" is not a range/],
  'the range of another contract': [
    { 'package.json': { peerDependencies: { '@dispatch/core': '^0.9.0 || ^2.0.0' } } },
    /^Made for @dispatch\/core \^0\.9\.0 \|\| \^2\.0\.0; this is 1\./
  ],
  'an entry that is not there': [
    { 'package.json': { exports: './gone.js' } },
    /^The entry "\.\/gone\.js" of package\.json cannot be read: ENOENT/
  ],
  'an entry outside its folder': [
    { 'package.json': { exports: '../outside.js' } },
    /^The entry "\.\.\/outside\.js" of package\.json lies outside the folder\.$/
  ],
  'a module that throws': [{ 'index.js': 'throw new Error("no luck")' }, /^Throws when it is loaded: no luck$/],
  'a module that throws nothing': [{ 'index.js': 'throw undefined' }, /^Throws when it is loaded: undefined$/],
  'a module that does not parse': [{ 'index.js': 'export default {' }, /^Throws when it is loaded: Unexpected end of input$/],
  'no default export': [{ 'index.js': 'export const provider = {}' }, /^Invalid manifest: The default export is not a provider/],
  'a default export that is no provider': [{ 'index.js': 'export default () => 1' }, /The default export is not a provider/],
  'data that JSON cannot carry': [{ 'index.js': manifestOf('name: 1n') }, /BigInt/],
  'a code in capitals': [{ 'index.js': source('ACME') }, /\/code Expected: a provider code/],
  'a service that does not exist': [
    { 'index.js': manifestOf('services: { invoices: {} }') },
    /\/services\/invoices Unknown field "invoices"( \(did you mean "invoicing"\?\))?\./
  ]
}

for (const [fault, [files, reason]] of Object.entries(broken)) {
  await t.test(`${fault}: refused with the reason, and no other provider is harmed`, async (t) => {
    const root = await directory(t)
    await writeFile(join(root, 'outside.js'), source('acme'))
    const folder = await provide(root, 'acme', files)
    await provide(root, 'healthy')
    const log = memoryLog()
    const host = await hostOf([root], { log })
    t.equal(host.find('acme'), undefined)
    t.ok(host.find('healthy'))
    contains(t, reasons(host)[folder], reason)
    has(t, log.lines.filter(({ level }) => level === 'error'), [{ message: 'provider refused', facts: { folder, reason } }])
  })
}

await t.test('a refused manifest keeps its code, so that one knows whose it was', async (t) => {
  const root = await directory(t)
  await provide(root, 'x', { 'index.js': manifestOf('name: ""') })
  has(t, (await hostOf([root])).entries(), [{ state: 'refused', code: 'acme' }])
})

await t.test('a module that never finishes loading is refused, and no other provider is harmed', async (t) => {
  const root = await directory(t)
  await provide(root, 'endless', { 'index.js': 'await new Promise(() => {})' })
  await provide(root, 'healthy')
  const host = await hostOf([root], { loadLimit: 2 })
  t.ok(host.find('healthy'))
  t.same(Object.values(reasons(host)), ['Did not finish loading within 2 seconds.'])
})

await t.test('of two folders with one code the first counts: by directory as listed, then by name', async (t) => {
  const [first, second] = [await directory(t), await directory(t)]
  const winner = await provide(second, 'b', { 'index.js': source('acme') })
  const byName = await provide(second, 'c', { 'index.js': source('acme') })
  const byDirectory = await provide(first, 'a', { 'index.js': source('acme') })

  const host = await hostOf([second, first])
  t.equal(host.find('acme')?.folder, winner)
  const reason = `The code "acme" belongs to ${winner}, which comes first.`
  t.strictSame(reasons(host), { [byName]: reason, [byDirectory]: reason })
  has(t, host.entries().map(({ state, code }) => ({ state, code })), [{ state: 'installed' }, { code: 'acme' }, { code: 'acme' }])

  await rm(winner, { recursive: true })
  await host.reload()
  t.equal(host.find('acme')?.folder, byName, 'the next one takes the place of a removed one')
})

await t.test('links', async (t) => {
  const [root, elsewhere] = [await directory(t), await directory(t)]

  await t.test('a link out of the directory is refused', async (t) => {
    const target = await provide(elsewhere, 'far')
    await symlink(target, join(root, 'far'))
    const host = await hostOf([root])
    t.equal(host.find('far'), undefined)
    contains(t, reasons(host)[join(root, 'far')], 'outside the directory of providers')
  })

  await t.test('a file linked into a folder from outside is refused', async (t) => {
    await writeFile(join(elsewhere, 'helper.js'), 'export default 1')
    const folder = await provide(root, 'near')
    await symlink(join(elsewhere, 'helper.js'), join(folder, 'helper.js'))
    t.equal(reasons(await hostOf([root]))[folder], 'helper.js is a link out of the folder.')
  })

  await t.test('an installed dependency may be a link', async (t) => {
    const folder = await provide(root, 'linked', { 'node_modules/.keep': '' })
    await symlink(elsewhere, join(folder, 'node_modules/dependency'))
    t.ok((await hostOf([root])).find('linked'))
  })

  await t.test('the directory itself may be a link', async (t) => {
    await provide(elsewhere, 'there')
    const link = join(root, 'all')
    await symlink(elsewhere, link)
    t.ok((await hostOf([link])).find('there'))
  })
})

await t.test('what is no provider folder is passed over', async (t) => {
  const root = await directory(t)
  await writeFile(join(root, 'README.md'), '# Providers')
  await provide(root, '.hidden')
  await provide(root, 'node_modules')
  await rm(join(await provide(root, 'notes'), 'package.json'))
  t.same((await hostOf([root])).entries(), [])
})

await t.test('a directory that cannot be read is an entry, and the other directories count', async (t) => {
  const root = await directory(t)
  await provide(root, 'acme')
  const gone = join(root, 'gone')
  const host = await hostOf([gone, root])
  t.ok(host.find('acme'))
  contains(t, reasons(host)[gone], /^The directory cannot be read: ENOENT/)
})

await t.test('entries stand by code, the refused ones after them by folder', async (t) => {
  const root = await directory(t)
  for (const [folder, code] of [['1', 'zeta'], ['2', 'alpha'], ['4', 'BAD'], ['3', 'BAD']] as const) {
    await provide(root, folder, { 'index.js': source(code) })
  }
  const { entries } = await hostOf([root])
  t.same(entries().map(({ code, folder }) => [code, folder.slice(-1)]), [['alpha', '2'], ['zeta', '1'], ['BAD', '3'], ['BAD', '4']])
})

await t.test('what changed is told once: installed, removed; what is refused is told at every reading', async (t: Test) => {
  const root = await directory(t)
  const folder = await provide(root, 'acme')
  await provide(root, 'bad', { 'index.js': 'throw new Error("no luck")' })
  const log = memoryLog()
  const host = await hostOf([root], { log })
  const told = (): unknown[] => log.lines.splice(0).map(({ level, message }) => `${level}: ${message}`).sort()
  t.same(told(), ['error: provider refused', 'info: providers installed'])
  await host.reload()
  t.same(told(), ['error: provider refused'])
  await rename(folder, join(root, '.acme'))
  await host.reload()
  t.same(told(), ['error: provider refused', 'warn: provider removed'])
  t.equal(host.find('acme'), undefined)
})

await t.test('the log of the service is such a log', async (t) => {
  t.same((await createHost({ directories: [], log: pino({ enabled: false }) })).entries(), [])
})
