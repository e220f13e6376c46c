import { makeKeys } from '@dispatch/marketplace'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'

/**
 * Writes a new pair of keys beside each other: `<path>.private.json`, which only its owner can read, and `<path>.public.json`. A key that
 * is there is never replaced.
 */
export async function writeKeys (path: string): Promise<{ privateFile: string, publicFile: string }> {
  const [privateFile, publicFile] = [`${path}.private.json`, `${path}.public.json`]
  const there = [privateFile, publicFile].find((file) => existsSync(file))
  if (there !== undefined) throw new Error(`${there} is there already: choose another name, or remove the key.`)
  const { privateKey, publicKey } = await makeKeys()
  await writeFile(privateFile, jsonOf(privateKey), { mode: 0o600, flag: 'wx' })
  await writeFile(publicFile, jsonOf(publicKey), { flag: 'wx' })
  return { privateFile, publicFile }
}

function jsonOf (value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
