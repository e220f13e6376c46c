import { compile } from '@dispatch/common'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Type } from 'typebox'

/** Beside a catalog that is being built: how far that is, and which process does it. */
export const buildingFile = 'building.json'

const fitBuilding = compile(Type.Object({ pid: Type.Integer({ minimum: 1 }), done: Type.Integer(), of: Type.Integer() }))

/** A sentence for each catalog in a directory that a process of this machine is building now. */
export async function buildingInWords (addresses: readonly string[]): Promise<string[]> {
  const found = await Promise.all(addresses.filter((address) => !address.startsWith('https://')).map(async (address) => {
    const text = await readFile(join(address, buildingFile), 'utf8').catch(() => undefined)
    const fit = text === undefined ? undefined : fitBuilding(JSON.parse(text))
    if (fit?.ok !== true || !isRunning(fit.value.pid)) return []
    return [
      `The catalog ${address} is being built: ${fit.value.done} of ${fit.value.of} adapters are in it. The others follow by themselves.`
    ]
  }))
  return found.flat()
}

function isRunning (pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // One that is somebody else's runs as well.
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
