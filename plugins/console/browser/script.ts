import { createRequire } from 'node:module'
import { assetOf } from './asset.ts'

/** The modules of the script: they export functions alone, whose names differ. */
const modules = ['start', 'times', 'follow', 'ask', 'renew', 'passkeys', 'editor', 'copy', 'once', 'palette', 'refusal', 'typed']

const require = createRequire(import.meta.url)

/**
 * Node strips the types of a module when it loads it, so its functions are the script: no bundler is needed. They refer to each other by
 * their names, as the modules import them. They are required, because pages have no top-level await: features are required, too.
 */
function build (): Buffer {
  const functions = modules.flatMap((name) => Object.values(require(`./script/${name}.ts`) as Record<string, () => void>).map(String))
  // What stripped types leave behind.
  return Buffer.from([...functions, 'start()', ''].join('\n').replaceAll(/^ +$\n/gm, ''))
}

/** The script of all pages. Without it they work, too. */
export const script = assetOf(build(), '/console', 'js')
