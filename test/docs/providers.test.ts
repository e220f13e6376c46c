import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { rules, runConformance } from '@dispatch/core/testing'
import t from 'tap'
import { directory } from '../fixtures/providers/folders.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const page = await readFile(join(root, 'providers/README.md'), 'utf8')
const blocks = [...page.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map(([, info = '', text = '']) => ({ info, text }))

/** A command of the page, in a directory that stands for the project; the exit code and what it prints. */
async function command (line: string, project: string): Promise<{ code: number, printed: string }> {
  const [, given = ''] = /^npm run provider (?:-- )?(.*)$/.exec(line) ?? []
  const options = given.startsWith('new ') ? ['--in', join(project, 'providers')] : []
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [join(root, 'scripts/provider.ts'), ...given.split(' '), ...options], { env: { ...process.env, INIT_CWD: project } })
    return { code: 0, printed: stdout }
  } catch (error) {
    const { code, stdout } = error as { code: number, stdout: string }
    return { code, printed: stdout }
  }
}

await t.test('the guide leads from nothing to a provider that passes', async (t) => {
  const project = await directory(t)
  const results: { line: string, code: number, printed: string }[] = []
  for (const { info, text } of blocks) {
    const [, code] = /fill=(\S+)/.exec(info) ?? []
    if (code !== undefined) {
      const entry = join(project, 'providers', code, 'index.ts')
      const source = await readFile(entry, 'utf8')
      t.ok(source.includes('const json = {}\n'))
      await writeFile(entry, source.replace('const json = {}\n', text))
    }
    if (info === 'sh run') for (const line of text.trim().split('\n')) results.push({ line, ...await command(line, project) })
  }
  t.strictSame(results.map(({ code }) => code), [0, 1, 0])
  t.match(results[1]?.printed, /✗ replay[^✗]+✗ send\.accepted[^✗]+, 1 failed/)
  t.match(results[2]?.printed, /, 0 failed/)
})

await t.test('the whole example of the guide passes the kit, with nothing left out but what it does not have', async (t) => {
  const folder = await directory(t)
  for (const { info, text } of blocks) {
    const [, file = ''] = /file=(\S+)/.exec(info) ?? []
    await mkdir(dirname(join(folder, file)), { recursive: true })
    if (file !== '') await writeFile(join(folder, file), text)
  }
  const { provider, cases } = await runConformance(join(folder, 'pigeon-post'))
  t.equal(provider, 'pigeon-post')
  t.strictSame(cases.filter(({ status }) => status === 'failed'), [])
  t.strictSame(new Set(cases.filter(({ status }) => status === 'skipped').map(({ rule }) => rule)), new Set(['sandbox', 'blind', 'forged']))
  t.ok(cases.length > 100)
})

await t.test('the guide names every rule of the kit', (t) => {
  const named = Object.fromEntries([...page.matchAll(/^\| `(\w+)` \| ([^|]+) \|$/gm)].filter(([, rule = '']) => Object.hasOwn(rules, rule)).map(([, rule = '', text = '']) => [rule, text]))
  t.strictSame(named, { ...rules })
  t.end()
})
