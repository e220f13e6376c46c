#!/usr/bin/env node
/**
 * `npm init dispatch-provider -- <code> --service <service>` writes the repository of a new adapter into the folder of its code, or, with
 * `--dir`, another one; with `--js` in JavaScript, with `--from` from a description of the vendor's API (OpenAPI 3.0 or 3.1). It needs no
 * checkout: the tarballs of the core and the kit lie beside this file.
 */
import { copyFile, mkdir } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { scaffoldRepository } from './repository.ts'
import { sdkFiles } from './sdk-files.ts'

const usage = `npm init dispatch-provider -- <code> --service <service> [--dir <folder>] [--js]
    [--from <openapi.yaml> [--operation <name>]]`

async function copyVendor (directory: string): Promise<void> {
  await mkdir(directory, { recursive: true })
  const beside = (name: string): string => fileURLToPath(new URL(`vendor/${name}`, import.meta.url))
  await Promise.all(Object.values(sdkFiles).map((name) => copyFile(beside(name), join(directory, name))))
}

try {
  const { values: { service, dir, js, from, operation }, positionals: [code] } = parseArgs({
    allowPositionals: true,
    options: {
      service: { type: 'string' },
      dir: { type: 'string' },
      js: { type: 'boolean' },
      from: { type: 'string' },
      operation: { type: 'string' }
    }
  })
  if (code === undefined || service === undefined) throw new Error(`What is to be written?\n${usage}`)
  const here = process.env['INIT_CWD'] ?? process.cwd()
  const made = await scaffoldRepository(resolve(here, dir ?? code), {
    code,
    service,
    directory: here,
    entry: js === true ? 'index.js' : 'index.ts',
    from: from === undefined ? undefined : resolve(here, from),
    operation
  }, copyVendor)
  const folder = relative(here, made)
  console.log(`${folder} is there. What is left to write stands in ${folder}/README.md. To try it: cd ${folder} && npm install && npm test`)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 2
}
