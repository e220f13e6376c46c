import { isInFolder } from '@dispatch/vendor-io'
import { createRequire, registerHooks, type ResolveHookSync } from 'node:module'
import { pathToFileURL } from 'node:url'

/** The packages that every provider imports from the host, even if its folder carries copies of its own. */
const shared = new Map([['@dispatch/core/provider', new URL('../provider.ts', import.meta.url).href]])

/** The marker in the URL of every module of one load. Its value leads to the URL of the folder. */
const mark = 'provider-load'
const loads = new Map<string, string>()
const require = createRequire(import.meta.url)

/**
 * Imports the entry of a folder (real paths) again, with every module of the folder that it uses. Modules that were imported before stay as
 * they are, for calls in progress. Node never unloads a module, so each call keeps a little memory.
 */
export async function importAnew (folder: string, entry: string): Promise<unknown> {
  installHook()
  const load = String(loads.size + 1)
  loads.set(load, pathToFileURL(`${folder}/`).href)
  forgetCommonJs(folder)
  return await import(marked(pathToFileURL(entry), load))
}

let installed = false

function installHook (): void {
  if (installed) return
  registerHooks({ resolve })
  installed = true
}

const resolve: ResolveHookSync = (specifier, context, next) => {
  const host = shared.get(specifier)
  if (host !== undefined) return { url: host, shortCircuit: true }
  const resolved = next(specifier, context)
  const load = URL.parse(context.parentURL ?? '')?.searchParams.get(mark) ?? ''
  const folder = loads.get(load)
  if (folder === undefined || !resolved.url.startsWith(folder)) return resolved
  return { ...resolved, url: marked(new URL(resolved.url), load) }
}

function marked (url: URL, load: string): string {
  url.searchParams.set(mark, load)
  return url.href
}

/** Node caches CommonJS modules by path and ignores the rest of the URL. */
function forgetCommonJs (folder: string): void {
  for (const path of Object.keys(require.cache)) {
    if (isInFolder(folder, path)) Reflect.deleteProperty(require.cache, path)
  }
}
