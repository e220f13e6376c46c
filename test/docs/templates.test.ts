import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { wordsOf } from '../../core/packages/documents/test/support.ts'
import { contains, has } from '../support/matching.ts'
import { startService } from '../support/service.ts'

const guide = readFileSync(new URL('../../templates/README.md', import.meta.url), 'utf8')
const blocks = [...guide.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map(([, info = '', text = '']) => ({ info, text }))

await t.test('what the guide lets an admin do works as it is written', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'dispatch-guide-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const { url } = await startService(t)
  const answers: any[] = []
  for (const { info, text } of blocks) {
    const [, file] = /file=(\S+)/.exec(info) ?? []
    if (file !== undefined) writeFileSync(join(folder, file), text)
    if (info !== 'sh run') continue
    for (const command of text.split(/^(?=curl|sed)/m)) {
      const { stdout } = await promisify(execFile)('sh', ['-c', command.replaceAll('http://127.0.0.1:3000', url)], { cwd: folder })
      if (stdout !== '') answers.push(JSON.parse(stdout))
    }
  }
  has(t, answers, [
    { name: 'logo', width: 1, height: 1 },
    { id: 1000, name: 'Our receipt', status: 'draft', version: 1, warnings: [] },
    { id: 1000, status: 'published', version: 1 },
    { success: true, service: 'file' },
    { id: 1000, status: 'draft', version: 2, latestVersion: 2 },
    { data: [{ version: 2, status: 'draft' }, { version: 1, status: 'published' }] },
    { version: 2, checked: 1, complete: true, refused: 0, examples: [] }
  ])
  t.equal(await wordsOf({ bytes: readFileSync(join(folder, 'receipt.pdf')) }), 'Receipt R-17 Paid by Ada.')
  contains(t, readFileSync(join(folder, 'receipt.html'), 'utf8'), /Paid with thanks by Edsger/)
})
