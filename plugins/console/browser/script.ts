import { assetOf } from './asset.ts'

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

/** The script of all pages. Without it they work, too. */
export const script = assetOf(await build(), '/console', 'js')
