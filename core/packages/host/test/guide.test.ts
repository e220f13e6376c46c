import { execFileSync } from 'node:child_process'
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { directory } from '../../../../test/fixtures/providers/folders.ts'
import { type Guide, readGuide } from '../load/guide.ts'

const without: readonly [string, (readme: string, folder: string) => unknown][] = [
  ['nothing', () => undefined],
  ['a folder', (readme) => mkdir(readme)],
  ['a link out of the folder', (readme, folder) => symlink(join(folder, '../secret'), readme)],
  ['a link to itself', (readme) => symlink(readme, readme)],
  ['a link through a file', (readme, folder) => symlink(join(folder, 'file', 'README.md'), readme)],
  ['a named pipe', (readme) => execFileSync('mkfifo', [readme])]
]

await t.test('a README.md that is no file of the folder is no guide', async (t) => {
  const root = await directory(t)
  await writeFile(join(root, 'secret'), 'secret')
  for (const [index, [what, make]] of without.entries()) {
    const folder = join(root, String(index))
    await mkdir(folder)
    await writeFile(join(folder, 'file'), '')
    await make(join(folder, 'README.md'), folder)
    t.equal(await readGuide({ folder }), undefined, what)
  }
})

await t.test('how it is set up may stand in a file of another language beside it', async (t) => {
  const folder = await directory(t)
  await writeFile(join(folder, 'README.md'), '# Post')
  t.equal(await readGuide({ folder }, 'fr'), undefined)
  await writeFile(join(folder, 'guide.fr.md'), '# La poste')
  t.same(await readGuide({ folder }, 'fr'), { guide: '# La poste', cut: false })
  t.same(await readGuide({ folder }), { guide: '# Post', cut: false })
})

await t.test('nor is one that may not be read', { skip: process.getuid?.() === 0 && 'everything may be read by root' }, async (t) => {
  const folder = await directory(t)
  await writeFile(join(folder, 'README.md'), 'secret')
  await chmod(join(folder, 'README.md'), 0)
  t.equal(await readGuide({ folder }), undefined)
})

await t.test('a long guide ends with a whole character, at 32 KB, and says so', async (t) => {
  const folder = await directory(t)
  const readGuideOf = async (text: string): Promise<Guide | undefined> => {
    await writeFile(join(folder, 'README.md'), text)
    return readGuide({ folder })
  }
  t.same(await readGuideOf('é'.repeat(20_000)), { guide: 'é'.repeat(16_384), cut: true })
  t.same(await readGuideOf(`a${'é'.repeat(20_000)}`), { guide: `a${'é'.repeat(16_383)}`, cut: true })
  t.same(await readGuideOf('é'.repeat(16_384)), { guide: 'é'.repeat(16_384), cut: false }, 'one that fits is whole')
  t.same(await readGuideOf('\ufeff# Post'), { guide: '# Post', cut: false })
})
