/**
 * `npm run client -- <folder>` writes the package `@dispatch/client` into a folder, ready to be packed or published: for the API of the
 * service that this project is, which it starts for it, or, with `--from <address>`, of one that runs.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { buildClient } from './client/build.ts'
import type { Document } from './client/document.ts'
import { sentenceOf } from './failure.ts'

const usage = 'npm run client -- <folder> [--from <address of a service>]'

/** npm runs scripts in the root of the project. A path is relative to the directory of the call. */
const here = process.env['INIT_CWD'] ?? process.cwd()

/** The document of the newest version that a service has. */
async function readDocument (address: string): Promise<Document> {
  const read = async (path: string): Promise<Document> => {
    const answer = await fetch(new URL(path, address))
    if (!answer.ok) throw new Error(`${address} answered ${answer.status} for ${path}: is it a service?`)
    return await answer.json() as Document
  }
  const { info } = await read('/openapi.json')
  const versions = [...info.description.matchAll(/\/openapi\/([\d.]+)\.json/g)].map(([, version = '']) => version)
  return read(`/openapi/${versions.at(-1) ?? info.version}.json`)
}

/** Starts a service that has an empty database, until `use` has ended. */
async function withService<Result> (use: (address: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'dispatch-client-service-'))
  const service = spawn(process.execPath, [fileURLToPath(new URL('serve.ts', import.meta.url))], {
    env: { ...process.env, PORT: '0', DISPATCH_DATA_DIR: folder, DISPATCH_DEMO_CATALOG: 'off', DISPATCH_LOG_LEVEL: 'error' },
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const ended = once(service, 'exit')
  try {
    for await (const line of createInterface(service.stdout)) {
      const [, address] = /ready at (\S+)/.exec(line) ?? []
      if (address !== undefined) return await use(address)
    }
    throw new Error('The service did not start: it says why above.')
  } finally {
    service.kill()
    await ended
    await rm(folder, { recursive: true })
  }
}

try {
  const { values: { from }, positionals: [folder, ...rest] } = parseArgs({ options: { from: { type: 'string' } }, allowPositionals: true })
  if (folder === undefined || rest.length > 0) throw new Error(usage)
  await buildClient(from === undefined ? await withService(readDocument) : await readDocument(from), resolve(here, folder))
  console.log(`${folder} has the package @dispatch/client: pack or publish it there.`)
} catch (error) {
  console.error(sentenceOf(error))
  process.exitCode = 1
}
