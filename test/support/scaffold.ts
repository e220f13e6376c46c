import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Does what the README of a new provider says. */
export async function fillIn (folder: string, file = 'index.ts'): Promise<void> {
  const [, filled = ''] = /```ts\n([\s\S]*?)\n```/.exec(await readFile(join(folder, 'README.md'), 'utf8')) ?? []
  const entry = join(folder, file)
  await writeFile(entry, (await readFile(entry, 'utf8')).replace(/const \w+ = \{\}/, filled))
}
