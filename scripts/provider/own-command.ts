#!/usr/bin/env node
/**
 * The command of an adapter in a repository of its own, in the working directory: `dispatch-provider test [<rule> …]` checks its types and
 * runs the kit, `types` and `kit` do one of both, `record` writes a fixture of what the vendor says, `pack` the tarball for a catalog, and
 * `publish` sends it to a registry of npm. The exit code is 1 when a check failed, and 2 when something could not be done.
 */
import { type ConformanceRule, conformanceRules, countOf, formatReport, runConformanceInChild } from '@dispatch/conformance/command'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

const usage = `dispatch-provider test [<rule> …]
dispatch-provider types
dispatch-provider kit [<rule> …]
dispatch-provider record <verb> <name> --call <file> [--settings <file>] [--document <file>] [--port <port>] [--force]
dispatch-provider pack [--out <directory>] [--key <private key>]
dispatch-provider publish [--registry <url>] [--tag <tag>] [--access <access>] [--provenance]`

const folder = process.cwd()

/** Whether the types fit, by the compiler that the repository has; its faults are printed. What has no tsconfig.json has no types. */
async function types (): Promise<boolean> {
  if (!existsSync(join(folder, 'tsconfig.json'))) return true
  return await succeeds(process.execPath, [await compiler(), '-p', folder])
}

async function compiler (): Promise<string> {
  const { resolve: find } = createRequire(join(folder, 'package.json'))
  try {
    const path = find('typescript/package.json')
    const { bin } = JSON.parse(await readFile(path, 'utf8')) as { bin: Record<string, string> }
    return join(path, '..', bin['tsc'] ?? '')
  } catch (cause) {
    throw new Error('There is no TypeScript to check the types with: npm install --save-dev typescript', { cause })
  }
}

async function kit (rules: readonly string[]): Promise<boolean> {
  const unknown = rules.filter((rule) => !isRule(rule))
  if (unknown.length > 0) throw new Error(`There is no rule ${unknown.join(', ')}; there are ${Object.keys(conformanceRules).join(', ')}.`)
  const report = await runConformanceInChild(folder, rules.length > 0 ? { only: rules.filter(isRule) } : {})
  console.log(formatReport(report))
  return countOf(report).failed === 0
}

function isRule (name: string): name is ConformanceRule {
  return Object.hasOwn(conformanceRules, name)
}

type Packing = { out: string, key?: string | undefined }

/** The path of the tarball; undefined where its types do not fit. */
async function pack ({ out, key }: Packing): Promise<string | undefined> {
  if (!await types()) return undefined
  const { packProvider } = await import('./pack.ts')
  const { path, size, integrity, conformance } = await packProvider(folder, { out, typed: true, key })
  console.log(
    `${path}: ${size} bytes, ${conformance.status === 'passed' ? `the kit passed ${conformance.passed} cases` : ''}.\n${integrity}`
  )
  return path
}

/** `more`: options of `npm publish`. */
async function publish (more: readonly string[]): Promise<boolean> {
  const out = await mkdtemp(join(tmpdir(), 'dispatch-publish-'))
  try {
    const path = await pack({ out })
    return path !== undefined && await succeeds('npm', ['publish', path, ...more])
  } finally {
    await rm(out, { recursive: true })
  }
}

async function succeeds (program: string, given: readonly string[]): Promise<boolean> {
  const [code] = await once(spawn(program, given, { cwd: folder, stdio: 'inherit' }), 'exit') as [number | null]
  return code === 0
}

async function run (): Promise<boolean> {
  const { values, positionals: [command = 'test', ...rest] } = parseArgs({
    allowPositionals: true,
    options: {
      call: { type: 'string' },
      settings: { type: 'string' },
      document: { type: 'string' },
      port: { type: 'string' },
      force: { type: 'boolean' },
      out: { type: 'string' },
      key: { type: 'string' },
      registry: { type: 'string' },
      tag: { type: 'string' },
      access: { type: 'string' },
      provenance: { type: 'boolean' }
    }
  })
  const at = (path: string | undefined): string | undefined => path === undefined ? undefined : resolve(folder, path)
  const { call, settings, document, port, force, out = '.', key } = values
  if (command === 'test') return await types() && await kit(rest)
  if (command === 'types') return await types()
  if (command === 'kit') return await kit(rest)
  if (command === 'pack') return await pack({ out: resolve(folder, out), key: at(key) }) !== undefined
  if (command === 'publish') {
    const { registry, tag, access, provenance } = values
    const named = Object.entries({ registry, tag, access }).flatMap(([name, value]) => value === undefined ? [] : [`--${name}=${value}`])
    return await publish([...named, ...provenance === true ? ['--provenance'] : []])
  }
  if (command === 'record' && rest.length === 2 && call !== undefined) {
    const [verb = '', name = ''] = rest
    const { record } = await import('./record.ts')
    const recording = { folder, verb, name, call: resolve(folder, call), settings: at(settings), document: at(document), port, force }
    const path = await record(recording)
    console.log(`${path} is written. Read it before you share it: names and numbers of the account are as they were.`)
    return true
  }
  throw new Error(`What is to be done?\n${usage}`)
}

try {
  process.exitCode = await run() ? 0 : 1
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 2
}
