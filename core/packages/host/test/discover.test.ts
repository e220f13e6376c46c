import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pino from 'pino'
import t, { type Test } from 'tap'
import { callContext, invoice, memoryLog } from '../../../../test/fixtures/providers/call.ts'
import { directory, type Files, provide, source } from '../../../../test/fixtures/providers/folders.ts'
import { contains, has } from '../../../../test/support/matching.ts'
import { callDispatch } from '../call/dispatch.ts'
import { createHost, type Host, type HostOptions } from '../host.ts'
import { createMemoryPins } from '../load/pins.ts'
import { createTrials, memoryOfTrials, type PassedTrials } from '../load/trials.ts'

/** A trial takes a process, and so most of a second: only those tests have it that are about it. */
const passedTrials: PassedTrials = { among: (keys) => Promise.resolve(new Set(keys)), add: () => Promise.resolve() }

const hostOf = (directories: readonly string[], more: Partial<HostOptions> = {}): Promise<Host> =>
  createHost({ directories, log: memoryLog(), passedTrials, ...more })

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
    /has no version range of @dispatch\/core in peerDependencies, such as "\^\d/
  ],
  'a range that is none': [{ 'package.json': { peerDependencies: { '@dispatch/core': 'newest' } } }, /"newest" is not a version range/],
  'the range of another contract': [
    { 'package.json': { peerDependencies: { '@dispatch/core': '^0.9.0 || ^2.0.0' } } },
    /^It is made for @dispatch\/core \^0\.9\.0 \|\| \^2\.0\.0, but this is 1\./
  ],
  'an entry that is not there': [
    { 'package.json': { exports: './gone.js' } },
    /^The entry "\.\/gone\.js" of package\.json cannot be read: ENOENT/
  ],
  'an entry outside its folder': [
    { 'package.json': { exports: '../outside.js' } },
    /^The entry "\.\.\/outside\.js" of package\.json lies outside the folder\.$/
  ],
  'a module that throws': [{ 'index.js': 'throw new Error("no luck")' }, /^It throws an error when it is loaded: no luck$/],
  'a module that throws nothing': [{ 'index.js': 'throw undefined' }, /^It throws an error when it is loaded: It gives no reason\.$/],
  'a module that does not parse': [{ 'index.js': 'export default {' }, /^It throws an error when it is loaded: Unexpected end of input$/],
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

const harmful: Record<string, [Files, RegExp]> = {
  'a module that never yields': [{ 'index.js': 'for (;;);' }, /^It did not finish loading within 3 seconds\. .*tried again/],
  'a module that ends the process': [{ 'index.js': 'process.exit(0)' }, /^Ends the process when it is loaded\.$/],
  'a module that kills the process': [{ 'index.js': 'process.kill(process.pid, "SIGKILL")' }, /^Ends the process when it is loaded\.$/],
  'a manifest that never ends': [{ 'index.js': 'export default { get code () { for (;;); } }' },
    /^It did not finish loading within 3 seconds\. .*tried again/]
}

for (const [fault, [files, reason]] of Object.entries(harmful)) {
  await t.test(`${fault}: refused by its trial, and no other provider is harmed`, async (t) => {
    const root = await directory(t)
    const folder = await provide(root, 'acme', files)
    await provide(root, 'healthy')
    const host = await createHost({ directories: [root], log: memoryLog(), loadLimit: 0.5 })
    t.ok(host.find('healthy'))
    contains(t, reasons(host)[folder], reason)
  })
}

await t.test('what a folder printed that fails its trial is in the log, on whichever stream', async (t) => {
  const root = await directory(t)
  const folder = await provide(root, 'acme', {
    'index.js': 'console.log("to one"); console.error("to the other"); setTimeout(() => process.exit(3), 100); await new Promise(() => {})'
  })
  const log = memoryLog()
  await createHost({ directories: [root], log })
  const line = log.lines.find(({ message }) => message === 'a provider failed its trial, and printed this')
  has(t, line, { level: 'error', facts: { folder, printed: /^(?=[^]*to one\n)(?=[^]*to the other\n)/ } })
})

await t.test('packages are found wherever links lead, beside the folder and above it', async (t) => {
  const [root, store] = [await directory(t), await directory(t)]
  const providers = join(root, 'app', 'providers')
  for (const name of ['own', 'above', 'deep']) {
    await mkdir(join(store, name), { recursive: true })
    await writeFile(join(store, name, 'package.json'), JSON.stringify({ name, version: '1.0.0', type: 'module', exports: './index.js' }))
    await writeFile(join(store, name, 'index.js'), name === 'above' ? 'export { deep as above } from "deep"' : `export const ${name} = 1`)
  }
  const importing = 'import { own } from "own"\nimport { above } from "above"'
  const folder = await provide(providers, 'acme', { 'index.js': source('acme', undefined, importing) })
  // A package manager links each package to a store, and what that one needs beside it.
  await mkdir(join(store, 'above', 'node_modules'))
  await symlink(join(store, 'deep'), join(store, 'above', 'node_modules', 'deep'))
  await mkdir(join(folder, 'node_modules'))
  await symlink(join(store, 'own'), join(folder, 'node_modules', 'own'))
  await mkdir(join(root, 'modules'))
  await symlink(join(store, 'above'), join(root, 'modules', 'above'))
  await symlink(join(root, 'modules'), join(root, 'app', 'node_modules'))
  const host = await createHost({ directories: [providers], log: memoryLog() })
  t.same(reasons(host), {})
  t.ok(host.find('acme'))
})

await t.test('a folder is tried with nothing of the environment, and can neither write, connect nor start anything', async (t) => {
  const root = await directory(t)
  const reported = (facts: string): Files => ({ 'index.js': `const facts = ${facts}; if (!facts) process.exit(1)\n${source('acme')}` })
  for (const [index, facts] of Object.entries([
    'Object.keys(process.env).length === 0',
    '(await import("node:fs/promises")).writeFile("/tmp/x", "x").then(() => false, ({ code }) => code === "ERR_ACCESS_DENIED")',
    'process.permission?.has("fs.write") === false && ["child", "net", "worker"].every((scope) => !process.permission.has(scope))'
  ])) {
    const folder = await provide(root, `folder-${index}`, reported(`await (${facts})`))
    const trials = createTrials({
      passed: { among: () => Promise.resolve(new Set()), add: () => Promise.resolve() },
      limit: 10,
      log: memoryLog()
    })
    t.same(await trials([{ folder, entry: join(folder, 'index.js'), digest: index }]), new Map([[folder, {}]]), facts)
  }
})

const places: Record<string, [Files, string]> = {
  'throws': [{ 'index.js': '\nthrow new Error("no luck")' }, 'index.js:2'],
  'throws in another module': [{ 'index.js': 'import "./lib/deep.js"', 'lib/deep.js': '\n\nnull.code' }, 'lib/deep.js:3'],
  'does not parse': [{ 'index.js': 'export default {\n' }, 'index.js:2'],
  'has another module that does not parse': [{ 'index.js': 'import "./deep.js"', 'deep.js': '\n\nconst' }, 'deep.js:3'],
  'does not parse as TypeScript': [{ 'package.json': { exports: './index.ts' }, 'index.ts': '\nconst x: = 1' }, 'index.ts:2'],
  'has an invalid manifest': [{ 'index.js': 'export default {}' }, 'index.js']
}

for (const [fault, [files, place]] of Object.entries(places)) {
  await t.test(`a folder that ${fault} is refused with the place`, async (t) => {
    const root = await directory(t)
    const folder = await provide(root, 'acme', files)
    has(t, (await hostOf([root], { passedTrials: memoryOfTrials })).entries(), [{ state: 'refused', folder, place }])
  })
}

await t.test('a folder that has passed is not tried again by a host with the same memory', async (t) => {
  const root = await directory(t)
  const keys = new Set<string>()
  const added: number[] = []
  const passedTrials: PassedTrials = {
    among: (requested) => Promise.resolve(keys.intersection(new Set(requested))),
    add (passed) {
      added.push(passed.length)
      for (const key of passed) keys.add(key)
      return Promise.resolve()
    }
  }
  await provide(root, 'acme')
  await provide(root, 'other')
  await provide(root, 'hanging', { 'index.js': 'for (;;);' })
  await hostOf([root], { passedTrials, loadLimit: 0.5 })
  const host = await hostOf([root], { passedTrials, loadLimit: 0.5 })
  t.same(added, [2])
  t.same(host.entries().map(({ code, state }) => code ?? state), ['acme', 'other', 'refused'])
})

await t.test('a module that never finishes loading is refused, and no other provider is harmed', async (t) => {
  const root = await directory(t)
  await provide(root, 'endless', { 'index.js': 'await new Promise(() => {})' })
  await provide(root, 'healthy')
  const host = await hostOf([root], { loadLimit: 0.5 })
  t.ok(host.find('healthy'))
  t.same(Object.values(reasons(host)), [
    'It did not finish loading within 3 seconds. Its code does not end, or this machine is too busy: it is tried again when the folders ' +
    'are read next.'
  ])
})

await t.test('a module that is slow once is tried again, and installed', async (t) => {
  const root = await directory(t)
  await provide(root, 'slow', { 'index.js': `await new Promise((resolve) => setTimeout(resolve, 1000))\n${source('acme')}` })
  t.ok((await createHost({ directories: [root], log: memoryLog(), loadLimit: 0.5 })).find('acme'))
})

const identity = (name: string, more: object = {}): Files => ({ 'package.json': { name, ...more }, 'index.js': source('acme') })

await t.test('of two folders of one publisher with one code the first installed one counts, wherever the other lies', async (t) => {
  const [early, late] = [await directory(t), await directory(t)]
  const holder = await provide(late, 'b', identity('acme'))
  const host = await hostOf([early, late])
  const before = host.find('acme')
  const byName = await provide(late, 'a', identity('acme'))
  const byDirectory = await provide(early, 'a', identity('acme'))
  await host.reload()
  t.equal(host.find('acme'), before)
  const reason = `The code "acme" belongs to ${holder}, which was installed first.`
  t.strictSame(reasons(host), { [byName]: reason, [byDirectory]: reason })

  await rm(holder, { recursive: true })
  await host.reload()
  t.equal(host.find('acme')?.folder, byDirectory, 'another folder of the publisher takes the place of a removed one')
})

await t.test('after a restart the folder that was installed first still counts', async (t) => {
  const root = await directory(t)
  const pins = createMemoryPins()
  const holder = await provide(root, 'b', identity('acme'))
  await hostOf([root], { pins })
  await provide(root, 'a', identity('acme'))
  t.equal((await hostOf([root], { pins })).find('acme')?.folder, holder)
})

const strangers: Record<string, Files> = {
  'another package': identity('other'),
  'another author': identity('acme', { author: 'Mallory' }),
  'another publisher': identity('acme', { author: 'Acme Ltd', publisher: 'Mallory' })
}

for (const [stranger, files] of Object.entries(strangers)) {
  await t.test(`a code is never given to ${stranger}, also where its own folder is gone`, async (t) => {
    const root = await directory(t)
    const pins = createMemoryPins()
    const holder = await provide(root, 'b', identity('acme', { author: { name: 'Acme', email: 'a@acme.test' } }))
    const host = await hostOf([root], { pins })
    const second = await provide(root, 'a', files)
    await host.reload()
    t.equal(host.find('acme')?.folder, holder)
    contains(t, reasons(host)[second], 'belong to the package "acme" by "Acme <a@acme.test>"; this is the package "')
    await rm(holder, { recursive: true })
    await host.reload()
    t.equal(host.find('acme'), undefined)
    t.equal((await hostOf([root], { pins })).find('acme'), undefined, 'nor after a restart')
  })
}

await t.test('a new version of another publisher leaves the old one in service', async (t) => {
  const root = await directory(t)
  const folder = await provide(root, 'acme')
  const host = await hostOf([root])
  const before = host.find('acme')
  await provide(root, 'acme', { 'package.json': { author: 'Mal\'lory$(id)', version: '2.0.0' } })
  await host.reload()
  t.equal(host.find('acme'), before)
  contains(t, reasons(host)[folder], 'npm run dispatch -- providers accept acme \'acme\' \'Mal\'\\\'\'lory$(id)\'')
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
    t.equal(reasons(await hostOf([root]))[folder], 'helper.js is a link to a place outside the folder.')
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
  const reported = (): unknown[] => log.lines.splice(0).map(({ level, message }) => `${level}: ${message}`).sort()
  t.same(reported(), ['error: provider refused', 'info: providers installed'])
  await host.reload()
  t.same(reported(), ['error: provider refused'])
  await rename(folder, join(root, '.acme'))
  await host.reload()
  t.same(reported(), ['error: provider refused', 'warn: provider removed'])
  t.equal(host.find('acme'), undefined)
})

await t.test('the log of the service is such a log', async (t) => {
  t.same((await createHost({ directories: [], log: pino({ enabled: false }) })).entries(), [])
})
