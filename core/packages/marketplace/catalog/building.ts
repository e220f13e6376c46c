import { compile } from '@dispatch/common'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Type } from 'typebox'

/** Beside a catalog that is being built: how far that is, and which process does it. */
export const buildingFile = 'building.json'

const fitBuilding = compile(Type.Object({ pid: Type.Integer({ minimum: 1 }), done: Type.Integer(), of: Type.Integer() }))

/** How many of its adapters are in a catalog that is being built. */
export type Building = { address: string, done: number, of: number }

/** The catalogs in directories that processes of this machine are building now. */
export async function catalogsBuilding (addresses: readonly string[]): Promise<Building[]> {
  const found = await Promise.all(addresses.filter((address) => !address.startsWith('https://')).map(async (address) => {
    const text = await readFile(join(address, buildingFile), 'utf8').catch(() => undefined)
    const fit = text === undefined ? undefined : fitBuilding(JSON.parse(text))
    return fit?.ok === true && isRunning(fit.value.pid) ? [{ address, done: fit.value.done, of: fit.value.of }] : []
  }))
  return found.flat()
}

/** A sentence for each of {@link catalogsBuilding}. */
export async function buildingInWords (addresses: readonly string[]): Promise<string[]> {
  return (await catalogsBuilding(addresses)).map(({ address, done, of }) =>
    `The catalog ${address} is being built: ${done} of ${of} adapters are in it. The others follow by themselves.`
  )
}

function isRunning (pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // One that is somebody else's runs as well.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
