import { hash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { directory } from '../../../../test/fixtures/providers/folders.ts'
import { createDocumentSpool } from '../documents/document-spool.ts'

const about = { filename: 'signed.pdf', contentType: 'application/pdf' }

await t.test('a document is kept with its size and hash, read again and dropped', async (t) => {
  const folder = join(await directory(t), 'spool')
  const spool = createDocumentSpool({ folder, newId: () => 'one' })
  const document = await spool.keep(Readable.from([Buffer.from('%PDF'), Buffer.from('-2.0')]), about)
  t.strictSame(document, { id: 'one', ...about, size: 8, sha256: hash('sha256', '%PDF-2.0') })
  t.equal(await text(await spool.read(document)), '%PDF-2.0')
  await spool.drop(document)
  await t.rejects(spool.read(document), { code: 'ENOENT' })
  await spool.drop(document)
})

await t.test('nothing is left of a document that is too large or breaks off', async (t) => {
  const folder = await directory(t)
  const spool = createDocumentSpool({ folder, newId: () => 'one', limit: 8 })
  await t.rejects(spool.keep(Readable.from([Buffer.alloc(8), Buffer.alloc(1)]), about), { message: 'The document is larger than 8 bytes.' })
  await t.rejects(spool.keep(Readable.from((async function* () {
    yield Buffer.alloc(1)
    await Promise.reject(new Error('cut'))
  })()), about), { message: 'cut' })
  t.strictSame(await readdir(folder), [])
  t.equal((await spool.keep(Readable.from([Buffer.alloc(8)]), about)).size, 8)
})
