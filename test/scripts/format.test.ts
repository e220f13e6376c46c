import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'

const root = fileURLToPath(new URL('../..', import.meta.url))

const formatted = `export function last (list: readonly string[]): string | undefined {
  return list.at(-1)
}
`
const unformatted = formatted.replace('last (list', 'last(list').replace('at(-1)', 'at( -1 );')

function format (t: Test, text: string, ...options: string[]): { status: number | null, stderr: string, text: string, file: string } {
  const file = join(t.testdir({ 'last.ts': text }), 'last.ts')
  const { status, stderr } = spawnSync(process.execPath, ['scripts/format.ts', ...options, file], { cwd: root, encoding: 'utf8' })
  return { status, stderr, text: readFileSync(file, 'utf8'), file }
}

await t.test('a file gets the form of the project', (t) => {
  const { status, text } = format(t, unformatted)
  t.equal(status, 0)
  t.equal(text, formatted)
  t.end()
})

await t.test('a check names the file that has another form, and leaves it', (t) => {
  const { status, stderr, text, file } = format(t, unformatted, '--check')
  t.equal(status, 1)
  t.equal(stderr, `${file} is not formatted\n\`npm run format\` formats them.\n`)
  t.equal(text, unformatted)
  t.end()
})

await t.test('a check of a formatted file is silent', (t) => {
  const { status, stderr, text } = format(t, formatted, '--check')
  t.strictSame({ status, stderr, text }, { status: 0, stderr: '', text: formatted })
  t.end()
})
