import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { callContext, invoice, memoryLog } from '../../../../test/fixtures/providers/call.ts'
import { directory, provide, source } from '../../../../test/fixtures/providers/folders.ts'
import { has } from '../../../../test/support/matching.ts'
import { callDispatch } from '../call/dispatch.ts'
import { createHost, type Host } from '../host.ts'
import type { PassedTrials } from '../load/trials.ts'

/** A trial takes a process, and so most of a second. */
const passedTrials: PassedTrials = { among: (keys) => Promise.resolve(new Set(keys)), add: () => Promise.resolve() }

const hostOf = (root: string): Promise<Host> => createHost({ directories: [root], log: memoryLog(), passedTrials })

const statusOf = async (host: Host, code: string): Promise<unknown> => {
  const outcome = await callDispatch(host.find(code)!, 'invoicing', invoice(), callContext())
  return outcome.outcome === 'accepted' ? outcome.response.status : outcome
}

await t.test('a provider added to the directory is usable after a reload', async (t) => {
  const root = await directory(t)
  const host = await hostOf(root)
  await provide(root, 'acme')
  t.equal(host.find('acme'), undefined)
  t.same(await host.reload(), host.entries())
  t.equal(await statusOf(host, 'acme'), 'sent')
})

await t.test('a change in any module of the folder counts, however deep it is imported', async (t) => {
  const root = await directory(t)
  const folder = await provide(root, 'acme', {
    'index.js': source('acme', 'return { id: "1", status: text + (await import("./lazy.js")).default }',
      'import text from "./lib/text.js"'),
    'lib/text.js': 'import { word } from "./word.js"\nexport default word',
    'lib/word.js': 'export const word = "old"',
    'lazy.js': 'export default "-lazy"'
  })
  const host = await hostOf(root)
  t.equal(await statusOf(host, 'acme'), 'old-lazy')

  await writeFile(join(folder, 'lib/word.js'), 'export const word = "new"')
  await writeFile(join(folder, 'lazy.js'), 'export default "-new"')
  await host.reload()
  t.equal(await statusOf(host, 'acme'), 'new-new')
})

await t.test('a change in a CommonJS module counts too', async (t) => {
  const root = await directory(t)
  const folder = await provide(root, 'acme', {
    'package.json': { type: 'commonjs', exports: './index.cjs' },
    'index.cjs': 'const { word } = ' +
      `require('./word.cjs')\n${
        source('acme', 'return { id: "1", status: word }').replace(/import (.*) from (.*)/, 'const $1 = require($2)').replace(
          'export default',
          'module.exports ='
        )
      }`,
    'word.cjs': 'exports.word = "old"'
  })
  const host = await hostOf(root)
  t.equal(await statusOf(host, 'acme'), 'old')
  await writeFile(join(folder, 'word.cjs'), 'exports.word = "new"')
  await host.reload()
  t.equal(await statusOf(host, 'acme'), 'new')
})

await t.test('an unchanged folder stays what it is, whatever happens beside it', async (t) => {
  const root = await directory(t)
  await provide(root, 'same')
  const host = await hostOf(root)
  const before = host.find('same')
  await provide(root, 'more')
  await host.reload()
  t.equal(host.find('same'), before)
})

await t.test('a request in flight finishes on the provider that it began with', async (t) => {
  const root = await directory(t)
  const waiting = (word: string): string =>
    source('acme', `while (await context.state.get("go") === undefined) await context.wait(0.001)\nreturn { id: "1", status: "${word}" }`)
  await provide(root, 'acme', { 'index.js': waiting('old') })
  const host = await hostOf(root)
  const old = host.find('acme')!
  const context = callContext()
  const inFlight = callDispatch(old, 'invoicing', invoice(), context)

  await provide(root, 'acme', { 'package.json': { version: '2.0.0' }, 'index.js': waiting('new') })
  await host.reload()
  t.equal(old.version, '1.0.0')
  t.equal(host.find('acme')?.version, '2.0.0')
  await context.state.put('go', true)
  has(t, await inFlight, { outcome: 'accepted', response: { status: 'old' } })
  has(t, await callDispatch(host.find('acme')!, 'invoicing', invoice(), context), { response: { status: 'new' } })
})

for (const broken of ['export default 1', 'for (;;);', 'process.exit(0)', 'throw new Error("no luck")', 'export default {']) {
  await t.test(`a new version that does not load leaves the old one in service: ${broken}`, async (t) => {
    const root = await directory(t)
    const folder = await provide(root, 'acme')
    const host = await createHost({ directories: [root], log: memoryLog(), loadLimit: 1 })
    const before = host.find('acme')
    await writeFile(join(folder, 'index.js'), broken)
    await host.reload()
    t.equal(host.find('acme'), before)
    t.equal(await statusOf(host, 'acme'), 'sent')
    has(t, host.entries(), [{ state: 'installed', version: '1.0.0' }, { state: 'refused', folder, reason: String }])
    await writeFile(join(folder, 'index.js'), source('acme', 'return { id: "1", status: "mended" }'))
    await host.reload()
    t.equal(await statusOf(host, 'acme'), 'mended')
    t.equal(host.entries().length, 1)
  })
}

await t.test('a folder whose new version does not load keeps its code from others', async (t) => {
  const root = await directory(t)
  const folder = await provide(root, 'b', { 'package.json': { name: 'acme' }, 'index.js': source('acme') })
  const host = await hostOf(root)
  await writeFile(join(folder, 'index.js'), 'throw new Error("no luck")')
  await provide(root, 'a', { 'package.json': { name: 'acme' }, 'index.js': source('acme') })
  await host.reload()
  t.equal(host.find('acme')?.folder, folder)
})

await t.test('reloads at the same time run one after the other, and the last sees all', async (t) => {
  const root = await directory(t)
  const host = await hostOf(root)
  const first = host.reload()
  await provide(root, 'acme')
  const [, second, third] = await Promise.all([first, host.reload(), host.reload()])
  has(t, second, [{ code: 'acme' }])
  t.equal(third[0], second[0], 'loaded once')
})
