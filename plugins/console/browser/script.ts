import { hash } from 'node:crypto'

/** The modules of the script: they export functions alone, whose names differ. */
const modules = ['start', 'times', 'follow', 'ask', 'renew', 'passkeys', 'editor', 'copy', 'once', 'palette', 'refusal', 'typed']

/**
 * Node strips the types of a module when it loads it, so its functions are the script: no bundler is needed. They refer to each other by
 * their names, as the modules import them.
 */
async function build (): Promise<Buffer> {
  const loaded = await Promise.all(
    modules.map((name) => import(new URL(`script/${name}.ts`, import.meta.url).href) as Promise<Record<string, () => void>>)
  )
  const functions = loaded.flatMap((module) => Object.values(module).map(String))
  // What stripped types leave behind.
  return Buffer.from([...functions, 'start()', ''].join('\n').replaceAll(/^ +$\n/gm, ''))
}

const bytes = await build()

/** The script of all pages. Without it they work, too. Its address has a part of its hash: browsers keep it until it changes. */
export const script = { bytes, path: `/console/${hash('sha256', bytes).slice(0, 12)}.js` }
