import { buildCatalog, catalogFile, readPrivateKey, signCatalog } from '@dispatch/marketplace'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { demoKey } from '../../plugins/config/catalogs.ts'
import type { App } from '../../plugins/container.ts'
import { writeKeys } from '../catalog/keys.ts'

/** Days for which the demo catalog is good. */
export const demoDays = 365

/**
 * Does something with each name, with so many at a time; what fails is tried once more after the others. Answers what failed then too, with
 * its errors.
 */
export async function tryTwice (
  names: readonly string[],
  work: (name: string) => Promise<unknown>,
  atOnce = 1
): Promise<Map<string, unknown>> {
  const tryAll = async (all: readonly string[]): Promise<Map<string, unknown>> => {
    const [failed, left] = [new Map<string, unknown>(), all.values()]
    const goOn = async (): Promise<void> => {
      for (const name of left) await work(name).catch((error: unknown) => failed.set(name, error))
    }
    await Promise.all(Array.from({ length: atOnce }, goOn))
    return failed
  }
  return tryAll([...(await tryAll(names)).keys()])
}

/** Makes the folder of the demo catalog with its keys and an empty catalog, which is read at the start, unless they are there. */
export async function prepareDemoCatalog (folder: string, now: Date): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const key = join(folder, demoKey)
  if (!existsSync(`${key}.public.json`)) await writeKeys(key)
  const catalog = join(folder, catalogFile)
  if (existsSync(catalog)) return
  const privateKey = await readPrivateKey(await readFile(`${key}.private.json`, 'utf8'))
  await writeFile(catalog, await signCatalog(await buildCatalog([], { days: demoDays, now }), privateKey))
}

/**
 * Packs the adapters of `providers/community` into the demo catalog, in a process of the lowest priority, and reads the catalog each time
 * that one more is in it. What this checkout has packed already is not packed again. Undefined where the service has no marketplace.
 */
export async function buildDemoCatalog (
  folder: string,
  { get, find, features }: Pick<App, 'get' | 'find' | 'features'>
): Promise<Disposable | undefined> {
  if (features.every(({ name }) => name !== 'marketplace')) return undefined
  const tokens = await import('../../core/packages/features/marketplace/service/tokens.ts')
  const [log, marketplace, now] = [get('log'), find(tokens.marketplace), get('now')]
  const child = spawn(process.execPath, [fileURLToPath(new URL('build.ts', import.meta.url)), folder], {
    stdio: ['ignore', 'pipe', 'pipe']
  })
  let reported = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    reported = (reported + text).slice(-2_000)
  })
  createInterface({ input: child.stdout }).on('line', (line) => {
    log.debug({ adapter: line }, 'an adapter is in the demo catalog')
    marketplace.refresh({ author: null, at: now() }).catch((err: unknown) => {
      log.warn({ err }, 'the demo catalog could not be read')
    })
  })
  child.once('error', (err) => {
    log.warn({ err }, 'the demo catalog could not be built')
  })
  child.once('exit', (code) => {
    if (code !== null && code !== 0) log.warn({ reason: reported.trim() }, 'adapters are missing in the demo catalog')
  })
  return {
    [Symbol.dispose]: () => {
      child.kill('SIGKILL')
    }
  }
}
