import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import ts from 'typescript'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Where a declaration comes from, and its path in the package. */
type Declaration = { from: string, to: string }

/** The entry of the declarations below the folder of the package. */
export const typesEntry = 'types/provider.d.ts'

/**
 * The declarations of `@dispatch/core/provider` and of all that they name, by their paths in the package. They need no other package but
 * the types of Node, because those of other packages are among them.
 */
export async function declareSdk (): Promise<Map<string, Uint8Array>> {
  const emitted = await realpath(await mkdtemp(join(tmpdir(), 'dispatch-types-')))
  try {
    await emit(emitted)
    return await collect(emitted)
  } finally {
    await rm(emitted, { recursive: true })
  }
}

async function emit (out: string): Promise<void> {
  const config = join(out, 'tsconfig.json')
  await writeFile(config, JSON.stringify({
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      incremental: false,
      // Nothing is emitted of what is found in node_modules, where the workspaces are links.
      paths: { '@dispatch/*': [join(root, 'core/packages/*/index.ts'), join(root, 'core/packages/*.ts')] },
      rootDir: join(root, 'core'),
      outDir: join(out, 'core'),
      typeRoots: [join(root, 'node_modules/@types')]
    },
    files: [join(root, 'core/packages/host/provider.ts')],
    include: [],
    exclude: []
  }))
  await promisify(execFile)(join(root, 'node_modules/.bin/tsc'), ['-p', config])
}

async function collect (emitted: string): Promise<Map<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>()
  const pending: Declaration[] = [{ from: join(emitted, 'core/packages/host/provider.d.ts'), to: typesEntry }]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (files.has(next.to)) continue
    const { text, named } = await rewritten(next, emitted)
    files.set(next.to, Buffer.from(text))
    pending.push(...named)
  }
  return files
}

/** The text of a declaration, whose imports are relative now, and the declarations that it names. */
async function rewritten ({ from, to }: Declaration, emitted: string): Promise<{ text: string, named: Declaration[] }> {
  let text = await readFile(from, 'utf8')
  const named: Declaration[] = []
  // From the last to the first: the places of those before stay as they are.
  for (const { fileName, pos, end } of ts.preProcessFile(text, true, true).importedFiles.toReversed()) {
    if (isBuiltin(fileName)) continue
    const target = resolved(fileName, from, emitted)
    named.push(target)
    const path = relative(dirname(to), target.to).replace(/\.d\.(m?)ts$/, '.$1js')
    const place = text.indexOf(fileName, pos)
    if (place === -1 || place > end) throw new Error(`${from}: the import of ${fileName} was not found.`)
    text = text.slice(0, place) + (path.startsWith('.') ? path : `./${path}`) + text.slice(place + fileName.length)
  }
  return { text, named }
}

function resolved (name: string, from: string, emitted: string): Declaration {
  const own = /^@dispatch\/([a-z/-]+)$/.exec(name)?.[1]
  if (own !== undefined || name.startsWith('.')) {
    const path = own === undefined ? join(dirname(from), name) : join(emitted, 'core/packages', own)
    const candidates = [path.replace(/\.(m?)[jt]s$/, '.d.$1ts'), `${path}.d.ts`, join(path, 'index.d.ts'), path]
    return declarationOf(candidates.find((one) => statSync(one, { throwIfNoEntry: false })?.isFile() === true) ?? path, emitted)
  }
  const base = from.startsWith(emitted) ? join(root, 'core/packages/host/provider.ts') : from
  const options = { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext }
  const found = ts.resolveModuleName(name, base, options, ts.sys, undefined, undefined, ts.ModuleKind.ESNext).resolvedModule
  if (found === undefined) throw new Error(`${from} names ${name}, whose types were not found.`)
  return declarationOf(found.resolvedFileName, emitted)
}

/** Those of other packages keep their paths, so that they find each other; npm keeps `node_modules` for itself. */
function declarationOf (from: string, emitted: string): Declaration {
  const foreign = from.split('node_modules/').at(-1) ?? from
  return { from, to: join('types', from.startsWith(emitted) ? relative(join(emitted, 'core'), from) : join('other', foreign)) }
}
