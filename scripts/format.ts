/**
 * Formats the given files, or all that git tracks or would add, with the settings in dprint.json. With `--check` it changes nothing: it
 * lists the files that it would change, and ends with exit code 1 if there are any.
 */
import { createFromBuffer } from '@dprint/formatter'
import { getPath } from '@dprint/typescript'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { Type } from 'typebox'
import { Value } from 'typebox/value'

const Settings = Type.Object({
  lineWidth: Type.Integer(),
  indentWidth: Type.Integer(),
  typescript: Type.Record(Type.String(), Type.Unknown())
})

/**
 * dprint breaks some lines only after it has broken the lines around them. It runs until nothing changes, which takes two or three runs.
 */
const maxRuns = 6

const { values: { check }, positionals } = parseArgs({ options: { check: { type: 'boolean', default: false } }, allowPositionals: true })
const format = loadFormatter('dprint.json')
const files = positionals.length > 0 ? positionals : sources()
const changed = files.map((file) => ({ file, text: readFileSync(file, 'utf8') }))
  .map(({ file, text }) => ({ file, text, formatted: format(file, text) }))
  .filter(({ text, formatted }) => formatted !== text)

for (const { file, formatted } of changed) {
  if (check) console.error(`${file} is not formatted`)
  else writeFileSync(file, formatted)
}
if (check && changed.length > 0) {
  console.error('`npm run format` formats them.')
  process.exitCode = 1
} else {
  console.log(`${files.length} files, ${changed.length} of them changed`)
}

/** Throws when a setting is unknown or has a wrong value. */
function loadFormatter (path: string): (file: string, text: string) => string {
  const { lineWidth, indentWidth, typescript } = Value.Parse(Settings, JSON.parse(readFileSync(path, 'utf8')))
  const formatter = createFromBuffer(readFileSync(getPath()))
  formatter.setConfig({ lineWidth, indentWidth }, typescript)
  const problems = formatter.getConfigDiagnostics().map(({ propertyName, message }) => `${propertyName}: ${message}`)
  if (problems.length > 0) throw new Error(`${path}: ${problems.join('; ')}`)

  return (filePath, text) => {
    let before = text
    for (let run = 0; run < maxRuns; run++) {
      const after = formatter.formatText({ filePath, fileText: before })
      if (after === before) return after
      before = after
    }
    throw new Error(`${filePath} still changes after ${maxRuns} runs: write the lines that change in another way.`)
  }
}

/** A file that git tracks may have been deleted. */
function sources (): string[] {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '*.ts', '*.mts', '*.mjs', '*.js'], {
    encoding: 'utf8'
  })
  return listed.split('\0').filter((file) => file !== '' && existsSync(file))
}
