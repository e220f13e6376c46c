/** The linter looks into every source, and knows the rules of this project: what breaks one is named, and what keeps it passes. */
import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { directory } from '../fixtures/providers/folders.ts'
import { has } from '../support/matching.ts'

const inProject = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))

type Finding = { code: string, labels: { span: { line: number } }[] }

/** What the linter finds in a text, by the rules of this project: the rule and the line of each. */
async function findingsIn (folder: string, text: string): Promise<[rule: string, line: number | undefined][]> {
  const file = join(folder, 'code.ts')
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
  const rules = ['normal-form', 'named-columns', 'whole-comparison'].map((rule) => [`project/${rule}`, 'error'])
  const config = {
    jsPlugins: [inProject('scripts/lint-rules.mjs')],
    categories: { correctness: 'off' },
    rules: Object.fromEntries(rules) as object
  }
  await writeFile(join(folder, 'oxlint.json'), JSON.stringify(config))
  const { promise, resolve } = Promise.withResolvers<string>()
  execFile(inProject('node_modules/.bin/oxlint'), ['-c', 'oxlint.json', '-f', 'json', 'code.ts'], { cwd: folder },
    (_error, output) => resolve(output))
  const { diagnostics } = JSON.parse(await promise) as { diagnostics: Finding[] }
  return diagnostics.map(({ code, labels: [label] }): [string, number | undefined] => [code, label?.span.line])
    .toSorted(([, a = 0], [, b = 0]) => a - b)
}

await t.test('what breaks a rule is found where it is, and what keeps it is not', async (t) => {
  const found = await findingsIn(await directory(t), [
    'text.normalize(\'NFC\')',
    'path.normalize(name)',
    'queries.selectFrom(\'companies\').selectAll()',
    'queries.selectFrom(\'companies\').select([\'name\'])',
    'sql`select * from companies`',
    'sql`update companies set name = 1 returning c.*`',
    'sql`select name from companies`',
    't.match(found, wanted)',
    't.hasStrict(found, wanted)',
    'text.match(pattern)',
    'set.has(value)'
  ].join('\n'))
  has(t, found, [
    ['project(normal-form)', 1],
    ['project(named-columns)', 3],
    ['project(named-columns)', 5],
    ['project(named-columns)', 6],
    ['project(whole-comparison)', 8],
    ['project(whole-comparison)', 9]
  ])
})

await t.test('every source is linted, but fixtures of checkouts', async (t) => {
  const run = promisify(execFile)
  const options = { cwd: inProject(''), maxBuffer: 2 ** 24 }
  const { stdout: listed } = await run(inProject('node_modules/.bin/oxlint'), ['-c', 'oxlint.json', '--debug=files', '.'], options)
  const linted = new Set(listed.split('\n').map((path) => path.trim().replace(/^\.\//, '')))
  const { stdout: kept } = await run('git', ['ls-files', '*.ts', '*.mjs'], options)
  const left = kept.trim().split('\n').filter((path) => !linted.has(path) && !/^test\/fixtures\/(clients|services|formats)\//.test(path))
  has(t, left, [])
})
