/**
 * Checks who imports whom, in the tree given as argument or the current one. Type imports count: they tie files together too.
 * Prints each breach as `file:line imports X: rule` and ends with exit code 1.
 */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join } from 'node:path/posix'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import ts from 'typescript'

/** Between folders; inside its own folder (a provider's is its package) a file may import any other. */
const walls = [
  { of: /^core\//, refuses: /^(plugins|providers|scripts|test)\//, rule: 'core knows neither plugins nor providers' },
  { of: /^core\//, refuses: /^@dispatch\//, rule: 'core imports its own files by path' },
  { of: /^plugins\//, refuses: /^core\//, rule: 'plugins reach the core through its exports, @dispatch/core' },
  { of: /^plugins\//, refuses: /^(providers|scripts|test)\//, rule: 'plugins know the core alone' },
  // Pure computation only: the host owns the network, the files and the processes.
  { of: /^providers\//, refuses: /^(?!@dispatch\/core\/provider$|node:(buffer|crypto|querystring|string_decoder|url|util)$)/, rule: 'providers import @dispatch/core/provider alone' }
]

/** A package (or a scope) and the only files that may import it. */
const homes: Record<string, RegExp> = {
  pdfkit: /^core\/documents\/pdf\.ts$/,
  piscina: /^core\/documents\//,
  kysely: /^core\/store\//,
  pg: /^core\/store\//,
  'rate-limiter-flexible': /^core\/store\/limits\.ts$/,
  undici: /^core\/host\/http\.ts$/,
  nodemailer: /^core\/host\/smtp-mailer\.ts$/,
  jose: /^core\/(access|host)\//,
  fastify: /^plugins\//,
  'fastify-plugin': /^plugins\//,
  '@fastify': /^plugins\//,
  'pg-boss': /^core\/work\/queue\.ts$/,
  tsyringe: /^plugins\/container\.ts$/,
  'reflect-metadata': /^plugins\/container\.ts$/
}

const folders = '{core,plugins,providers,scripts}/**/*.{ts,mts,js,mjs}'
/** Benchmarks measure the libraries themselves. */
const outside = /(^|\/)node_modules\/|^scripts\/bench\//

/** `target` is a path from the root for a file of the tree, else the name that was imported (`node:` before a builtin). */
type Import = { file: string, line: number, name: string, target: string }

function importsOf (root: string, file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8')
  return ts.preProcessFile(text, true, true).importedFiles.map(({ fileName: name, pos }) =>
    ({ file, line: text.slice(0, pos).split('\n').length, name, target: targetOf(file, name) }))
}

function targetOf (file: string, name: string): string {
  if (name.startsWith('.')) return join(dirname(file), name)
  return isBuiltin(name) && !name.startsWith('node:') ? `node:${name}` : name
}

function rulesBroken ({ file, target }: Import): string[] {
  const crossed = folderOf(file) === folderOf(target) ? [] : walls.filter(wall => wall.of.test(file) && wall.refuses.test(target))
  const astray = Object.entries(homes).filter(([name, home]) => (target === name || target.startsWith(`${name}/`)) && !home.test(file))
  return [...crossed.map(({ rule }) => rule), ...astray.map(([name, home]) => `${name} belongs to ${home.source.replaceAll(/[\\^$]/g, '')}`)]
}

function folderOf (path: string): string | undefined {
  return /^(core|plugins|scripts|providers\/[^/]+)\//.exec(path)?.[1]
}

/** The imports that close a circle, each with the way round. */
function circles (imports: Import[], exported: Record<string, string>): [Import, string][] {
  const importsByFile = Map.groupBy(imports, ({ file }) => file)
  const done = new Set<string>()
  const found: [Import, string][] = []
  const visit = (file: string, path: string[]) => {
    for (const made of importsByFile.get(file) ?? []) {
      const next = exported[made.target] ?? made.target
      const way = [...path, file]
      if (way.includes(next)) found.push([made, [...way.slice(way.indexOf(next)), next].join(' → ')])
      else if (!done.has(next)) visit(next, way)
    }
    done.add(file)
  }
  for (const file of importsByFile.keys()) if (!done.has(file)) visit(file, [])
  return found
}

/** What the core exports: the name to import, and the file behind it. */
function exportsOf (root: string): Record<string, string> {
  const path = join(root, 'core/package.json')
  if (!existsSync(path)) return {}
  const { exports } = Value.Parse(Type.Object({ exports: Type.Record(Type.String(), Type.String()) }), JSON.parse(readFileSync(path, 'utf8')))
  return Object.fromEntries(Object.entries(exports).map(([name, file]) => [join('@dispatch/core', name), join('core', file)]))
}

/** What the page of the core, where there is one, does not name: a rule, an imported package that has a home, one of the core's folders. */
function unnamed (root: string, imports: Import[]): string[] {
  const path = join(root, 'core/README.md')
  if (!existsSync(path)) return []
  const page = readFileSync(path, 'utf8')
  const packages = Object.keys(homes).filter(name => imports.some(({ target }) => target === name || target.startsWith(`${name}/`)))
  const parts = globSync('core/*/', { cwd: root, exclude: ['**/node_modules'] }).map(folder => `\`${folder.replace(/\/$/, '')}\``)
  return [...walls.map(({ rule }) => rule), ...packages.map(name => `\`${name}\``), ...parts].filter(words => !page.includes(words))
}

const root = process.argv[2] ?? '.'
const files = globSync(folders, { cwd: root, exclude: ['**/node_modules'] }).filter(file => !outside.test(file)).sort()
const imports = files.flatMap(file => importsOf(root, file))
const broken = imports.flatMap(made => rulesBroken(made).map((rule): [Import, string] => [made, rule]))
const round = circles(imports, exportsOf(root)).map(([made, way]): [Import, string] => [made, `no circles (${way})`])
const breaches = [...broken, ...round]
for (const [{ file, line, name }, rule] of breaches) console.error(`${file}:${line} imports ${name}: ${rule}`)
const missing = unnamed(root, imports)
for (const words of missing) console.error(`core/README.md does not name ${words}`)
if (breaches.length + missing.length > 0) process.exitCode = 1
else console.log(`${files.length} files keep the walls`)
