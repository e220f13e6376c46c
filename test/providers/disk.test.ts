import type { DocumentHandle } from '@dispatch/common'
import { hash } from 'node:crypto'
import { mkdir, readdir, readFile, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import t, { type Test } from 'tap'
import type { CallResources } from '../../core/packages/host/call/call-resources.ts'
import { type CallContext, callDispatch, type Outcome } from '../../core/packages/host/call/dispatch.ts'
import { loadProvider } from '../../core/packages/host/load/load.ts'
import { checkSettings } from '../../core/packages/host/settings/settings.ts'
import { callContext, outside } from '../fixtures/providers/call.ts'
import { directory } from '../fixtures/providers/folders.ts'
import { has } from '../support/matching.ts'

const bytes = Buffer.from('%PDF-2.0')
const pdf: DocumentHandle = {
  id: '01960000-0000-7000-8000-000000000001',
  filename: 'F-1.pdf',
  contentType: 'application/pdf',
  size: bytes.byteLength,
  sha256: hash('sha256', bytes)
}
const provider = await loadProvider(await realpath(new URL('../../providers/disk', import.meta.url).pathname), 'as it is', 10)

type Stage = {
  root: string
  put: (document: DocumentHandle, more?: Partial<Omit<CallContext, 'resources'>>, ways?: Partial<CallResources>) => Promise<Outcome>
}

/** The provider with the disk of company 7. */
async function begin (t: Test): Promise<Stage> {
  const root = await directory(t)
  const documents = { read: () => Promise.resolve(Readable.from([bytes])), keep: () => Promise.reject(new Error('Nothing is kept.')) }
  return {
    root,
    put: (document, more, ways) =>
      callDispatch(provider, 'upload', { document, metadata: {} },
        callContext({ ...more, resources: outside({ documents, disk: { root, folder: '7' }, ...ways }) }))
  }
}

await t.test('an upload is stored below the company\'s folder, its key before its name', async (t) => {
  const { root, put } = await begin(t)
  t.strictSame(await put(pdf), {
    outcome: 'accepted',
    response: { id: 'files/step-1-F-1.pdf', status: 'stored', size: 8, sha256: pdf.sha256 }
  })
  t.same(await readFile(join(root, '7/files/step-1-F-1.pdf')), bytes)
  has(t, await put(pdf, { settings: { folder: 'incoming/scans' } }), { response: { id: 'files/incoming/scans/step-1-F-1.pdf' } })
  t.same(await readdir(join(root, '7/files/incoming/scans')), ['step-1-F-1.pdf'])
})

await t.test('the same key stores once, another key another file', async (t) => {
  const { root, put } = await begin(t)
  t.same(await put(pdf), await put(pdf))
  await put(pdf, { idempotencyKey: 'step-2' })
  t.same((await readdir(join(root, '7/files'))).sort(), ['step-1-F-1.pdf', 'step-2-F-1.pdf'])
  has(t, provider.manifest.services.upload, { idempotency: { kind: 'key' }, verbs: ['dispatch'] })
})

await t.test('a sandbox upload lies apart', async (t) => {
  const { root, put } = await begin(t)
  has(t, await put(pdf, { sandbox: true }), { response: { id: 'sandbox/step-1-F-1.pdf' } })
  t.same(await readdir(join(root, '7')), ['sandbox'])
})

await t.test('whatever the file is called, it stays where it belongs and keeps its extension', async (t) => {
  const { root, put } = await begin(t)
  const names: [string, string][] = [
    ['../../etc/passwd', '..-..-etc-passwd'],
    ['.htaccess', '.htaccess'],
    ['a\0b\r\nc.pdf', 'a-b-c.pdf'],
    ['facture\u202Efdp.exe', 'facture-fdp.exe'],
    ['', ''],
    [`${'😀'.repeat(99)}.pdf`, `${'😀'.repeat(46)}.pdf`]
  ]
  for (const [filename, stored] of names) {
    has(t, await put({ ...pdf, filename }), { outcome: 'accepted', response: { id: `files/step-1-${stored}` } })
  }
  t.same(await readdir(root), ['7'])
  t.same((await readdir(join(root, '7/files'))).sort(), names.map(([, stored]) => `step-1-${stored}`).sort())
})

await t.test('without a disk, or with one that fails, nothing is stored', async (t) => {
  const { root, put } = await begin(t)
  has(t, await put(pdf, {}, { disk: { root: join(root, 'missing'), folder: '7' } }), { outcome: 'unavailable' })
  const documents = { read: () => Promise.reject(new Error('gone')), keep: () => Promise.reject(new Error()) }
  has(t, await put(pdf, {}, { documents }), { outcome: 'unavailable' })
  t.same(await readdir(join(root, '7/files')), [])
  await mkdir(join(root, '7/files/step-1-F-1.pdf'))
  has(t, await put(pdf), { outcome: 'uncertain' }, 'a disk that fails at the last step')
})

await t.test('its settings are a form, and no folder leads out', (t) => {
  const { settings: form } = provider.manifest
  for (const [name, field] of Object.entries(form.properties)) has(t, field, { title: String, description: String }, name)
  for (const folder of ['a', 'incoming/scans', 'Scans 2026/v1.2']) t.same(checkSettings(form, { folder }), [], folder)
  for (const folder of ['', '/a', 'a/', '..', 'a/../b', '.a', 'a/.b', 'a\\b', 'a\n', 'a/b/c/d/e/f']) {
    t.equal(checkSettings(form, { folder }).length, 1, folder)
  }
  t.end()
})
