/**
 * `npm run catalog -- keygen <name>` makes the pair of keys for a catalog; `build <folder>` writes the content of a catalog of the
 * tarballs in a folder, and of packages at a registry of npm, and runs the conformance kit on each; `sign <folder> --key <private key>`
 * signs it; `check <folder> --key <public key>` says what is wrong with it, and ends with exit code 1 then. The page of
 * `@dispatch/marketplace` has an example.
 */
import { maxDays } from '@dispatch/marketplace'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { checkFolder } from './catalog/check.ts'
import { buildFolder, signFolder } from './catalog/folder.ts'
import { writeKeys } from './catalog/keys.ts'

const usage = `npm run catalog -- keygen <name>
npm run catalog -- build <folder> [--days <days>]
npm run catalog -- sign <folder> --key <private key>
npm run catalog -- check <folder> --key <public key>`

/** npm runs scripts in the root of the project. A path is relative to the directory of the call. */
const here = process.env['INIT_CWD'] ?? process.cwd()

async function keygen (name: string): Promise<void> {
  const { privateFile, publicFile } = await writeKeys(resolve(here, name))
  console.log(`${privateFile} is for whoever signs catalogs, and for nobody else. ${publicFile} is for those who read them.`)
}

async function build (folder: string, days: number): Promise<void> {
  if (!Number.isInteger(days) || days < 1 || days > maxDays) throw new Error(`"--days" is a whole number from 1 to ${maxDays}.`)
  const { serial, expires, adapters } = await buildFolder(resolve(here, folder), { days, now: new Date(), tell: console.log })
  console.log(`Catalog ${serial} has ${adapters.length} adapters and is good until ${expires}. It is to be signed: npm run catalog -- sign`)
}

async function check (folder: string, key: string): Promise<void> {
  const { summary, faults } = await checkFolder(resolve(here, folder), resolve(here, key), new Date())
  for (const fault of faults) console.error(fault)
  if (faults.length > 0) process.exitCode = 1
  if (summary !== undefined) console.log(summary)
}

try {
  const { values, positionals: [command, name, ...rest] } = parseArgs({
    allowPositionals: true,
    options: { key: { type: 'string' }, days: { type: 'string' } }
  })
  // Without "--", npm removes the names of the options and passes on only their values.
  const [key = rest[0], days = rest[0]] = [values.key, values.days]
  if (command === 'keygen' && name !== undefined) await keygen(name)
  else if (command === 'build' && name !== undefined) await build(name, Number(days ?? maxDays))
  else if (command === 'sign' && name !== undefined && key !== undefined) {
    console.log(`${await signFolder(resolve(here, name), resolve(here, key))} is signed.`)
  } else if (command === 'check' && name !== undefined && key !== undefined) await check(name, key)
  else throw new Error(`What is to be done?\n${usage}`)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 2
}
