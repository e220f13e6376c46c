/**
 * `npm run provider -- new <code> --service <service>` writes the folder of a new provider, below `providers/` or, with `--in`, another
 * directory; with `--dir`, as a repository of its own; with `--js` in JavaScript. With `--from` it is written from a description of the
 * vendor's API (OpenAPI 3.0 or 3.1, JSON or YAML), of which `--operation` sends. `npm run provider test <folder>` checks a provider with
 * the conformance kit and prints its report; the exit code is 1 when it fails. Rules after the folder are checked alone; `-- test <folder>
 * --json` prints the report as JSON. `npm run provider -- record <folder> <verb> <name> --call <file>` calls a verb with the real vendor
 * and writes what was said as a fixture. `npm run provider pack <folder>` writes the tarball for a catalog into the directory of the call,
 * or, with `--out`, another one; `--unchecked` leaves the kit out, and `--key` names the private key with which the publisher signs it.
 * `npm run provider -- tools --out <directory>` writes the tarballs that authors elsewhere work with: `create-dispatch-provider`, which an
 * `npm init` from a registry runs, and those of the core and the kit.
 */
import { type ConformanceReport, type ConformanceRule, conformanceRules, countOf, formatReport,
  runConformanceInChild } from '@dispatch/conformance/command'
import { existsSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Packing } from './provider/pack.ts'
import type { NewProvider } from './provider/scaffold.ts'

const usage = `npm run provider -- new <code> --service <service> [--in <directory> | --dir <folder>] [--js]
    [--from <openapi.yaml> [--operation <name>]]
npm run provider -- test <folder> [<rule> …] [--json]
npm run provider -- record <folder> <verb> <name> --call <file> [--settings <file>] [--document <file>] [--port <port>] [--force]
npm run provider -- pack <folder> [--out <directory>] [--unchecked] [--key <private key>] [--json]
npm run provider -- tools [--out <directory>]`

/** npm runs scripts in the root of the project. A path is relative to the directory of the call. */
const here = process.env['INIT_CWD'] ?? process.cwd()
const providers = fileURLToPath(new URL('../providers', import.meta.url))

type Wanted = Omit<NewProvider, 'folder' | 'own'> & { own: string | undefined }

async function make ({ own, ...wanted }: Wanted): Promise<void> {
  // Both load the core, which the command "test" leaves to its child.
  const made = own === undefined
    ? await (await import('./provider/scaffold.ts')).scaffoldProvider(wanted)
    : await (await import('./provider/repository.ts')).scaffoldRepository(own, wanted, (await import('./provider/sdk.ts')).writeSdk)
  const below = relative(here, made)
  const folder = below.startsWith('..') ? made : below
  console.log(
    `${folder} is there. What is left to write stands in ${folder}/README.md. To try it: ${
      own === undefined ? `npm run provider test ${folder}` : `cd ${folder} && npm install && npm test`
    }`
  )
}

async function test (folder: string, only: readonly string[], format: (report: ConformanceReport) => string): Promise<void> {
  if (!existsSync(folder)) throw new Error(`There is no folder ${folder}.`)
  const unknown = only.filter((rule) => !isRule(rule))
  if (unknown.length > 0) throw new Error(`There is no rule ${unknown.join(', ')}; there are ${Object.keys(conformanceRules).join(', ')}.`)
  const report = await runConformanceInChild(folder, only.length > 0 ? { only: only.filter(isRule) } : {})
  console.log(format(report))
  if (countOf(report).failed > 0) process.exitCode = 1
}

async function pack (folder: string, options: Packing, isJson: boolean): Promise<void> {
  if (!existsSync(folder)) throw new Error(`There is no folder ${folder}.`)
  const { packProvider } = await import('./provider/pack.ts')
  const packed = await packProvider(folder, options)
  const { path, size, integrity, conformance } = packed
  const checked = conformance.status === 'passed' ? `the kit passed ${conformance.passed} cases` : 'the kit was not run'
  console.log(isJson ? JSON.stringify(packed, null, 2) : `${path}: ${size} bytes, ${checked}.\n${integrity}`)
}

function isRule (name: string): name is ConformanceRule {
  return Object.hasOwn(conformanceRules, name)
}

try {
  const { values, positionals: [command, name, ...rest] } = parseArgs({
    allowPositionals: true,
    options: {
      service: { type: 'string' },
      in: { type: 'string' },
      dir: { type: 'string' },
      from: { type: 'string' },
      operation: { type: 'string' },
      js: { type: 'boolean' },
      json: { type: 'boolean' },
      call: { type: 'string' },
      settings: { type: 'string' },
      document: { type: 'string' },
      port: { type: 'string' },
      force: { type: 'boolean' },
      out: { type: 'string' },
      unchecked: { type: 'boolean' },
      key: { type: 'string' }
    }
  })
  // Without "--", npm removes the names of the options and passes on only their values.
  const [service = rest[0], directory = rest[1] ?? providers] = [values.service, values.in]
  const at = (path: string | undefined): string | undefined => path === undefined ? undefined : resolve(here, path)
  if (command === 'new' && name !== undefined && service !== undefined) {
    const entry = values.js === true ? 'index.js' : 'index.ts'
    const { from, operation } = values
    await make({ code: name, service, directory: resolve(here, directory), own: at(values.dir), entry, from: at(from), operation })
  } else if (command === 'test' && name !== undefined) {
    await test(resolve(here, name), rest, values.json === true ? (report) => JSON.stringify(report, null, 2) : formatReport)
  } else if (command === 'record' && name !== undefined && rest.length === 2 && values.call !== undefined) {
    const [verb = '', fixture = ''] = rest
    const { settings: from, document, port, force } = values
    const call = resolve(here, values.call)
    const { record } = await import('./provider/record.ts')
    const recording = { folder: resolve(here, name), verb, name: fixture, call, settings: at(from), document: at(document), port, force }
    const path = await record(recording)
    console.log(`${path} is written. Read it before you share it: names and numbers of the account are as they were.`)
  } else if (command === 'pack' && name !== undefined) {
    const { out = rest[0] ?? '', unchecked, key } = values
    await pack(resolve(here, name), { out: resolve(here, out), unchecked, key: at(key) }, values.json === true)
  } else if (command === 'tools') {
    const { writeCreator } = await import('./provider/sdk.ts')
    const paths = await writeCreator(resolve(here, values.out ?? name ?? ''))
    console.log(paths.join('\n'))
  } else throw new Error(`What is to be done?\n${usage}`)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 2
}
