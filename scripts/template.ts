/**
 * `npm run template preview <name>` writes the samples of a template in every format into `data/previews/<name>`, or into the folder after
 * `--out`. `npm run template new <name>` writes the folder of a new template below `templates/`, or, with `--in`, another directory. `npm
 * run template check [<name> …]` checks templates, by default all of `templates/`; the exit code is 1 when one has faults. A name is a
 * folder of `templates/`, or a path.
 */
import { didYouMean } from '@dispatch/common'
import { RenderError, TemplateError } from '@dispatch/documents'
import { existsSync, readdirSync } from 'node:fs'
import { basename, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { checkTemplateFolder } from './template/check.ts'
import { preview } from './template/preview.ts'
import { scaffoldTemplate } from './template/scaffold.ts'

const usage = `npm run template preview <name> [-- --out <directory>]
npm run template new <name> [-- --in <directory>]
npm run template check [<name> …]`

/** npm runs scripts in the root of the project. A path is relative to the directory of the call. */
const here = process.env['INIT_CWD'] ?? process.cwd()
const templates = fileURLToPath(new URL('../templates', import.meta.url))
const previews = fileURLToPath(new URL('../data/previews', import.meta.url))

/** The folder of a template: one of `templates/`, or a path. */
function folderOf (name: string): string {
  const found = [resolve(templates, name), resolve(here, name)].find((folder) => existsSync(resolve(folder, 'template.yaml')))
  if (found === undefined) {
    throw new Error(
      `There is no template "${name}"${didYouMean(name, namesIn(templates))}: neither in templates/ nor as a path to a folder with ` +
        'a template.yaml.'
    )
  }
  return found
}

/** The folders of a directory. */
function namesIn (directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) => name)
}

/** A path as it is shown to the caller. */
function shown (path: string): string {
  const below = relative(here, path)
  return below.startsWith('..') ? path : below
}

async function previewOf (name: string, out: string | undefined): Promise<void> {
  const folder = folderOf(name)
  const directory = out === undefined ? resolve(previews, basename(folder)) : resolve(here, out)
  const files = await preview(folder, directory, new Date())
  console.log(`${shown(directory)} has ${files.join(', ')}.`)
}

async function make (name: string, directory: string): Promise<void> {
  const folder = shown(await scaffoldTemplate({ name, directory, taken: templates }))
  console.log(`${folder} is there. To see it: npm run template preview ${folder}`)
}

async function checkAll (names: readonly string[]): Promise<void> {
  for (const name of names.length > 0 ? names : namesIn(templates)) {
    const { faults, warnings } = await checkTemplateFolder(folderOf(name))
    console.log([`${faults.length === 0 ? '✓' : '✗'} ${name}`, ...faults, ...warnings].join('\n    '))
    if (faults.length > 0) process.exitCode = 1
  }
}

try {
  const { values, positionals: [command, name, ...rest] } = parseArgs({
    allowPositionals: true,
    options: { in: { type: 'string' }, out: { type: 'string' } }
  })
  // Without "--", npm removes the names of the options and passes on only their values.
  if (command === 'preview' && name !== undefined) await previewOf(name, values.out ?? rest[0])
  else if (command === 'new' && name !== undefined) await make(name, resolve(here, values.in ?? rest[0] ?? templates))
  else if (command === 'check') await checkAll(name === undefined ? [] : [name, ...rest])
  else throw new Error(`What is to be done?\n${usage}`)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = error instanceof TemplateError || error instanceof RenderError ? 1 : 2
}
