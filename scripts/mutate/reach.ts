import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path/posix'
import ts from 'typescript'

/** The tests that reach a file, the nearest first. */
export type Reach = (file: string) => string[]

const sources = '{core,plugins,providers,scripts,test}/**/*.{ts,mts,mjs,js}'
const workspaces = 'core/{package.json,packages/*/package.json}'

/** Reads who imports whom in the tree at `root`. */
export function reachOf (root: string): Reach {
  const files = globSync(sources, { cwd: root, exclude: ['**/node_modules'] })
  const entries = entriesOf(root)
  const imports = new Map(files.map((file) => [file, importsOf(root, file, entries)]))
  const tests = files.filter((file) => file.endsWith('.test.ts'))
  const distances = new Map(tests.map((test) => [test, distancesFrom(test, imports)]))
  return (file) =>
    tests.flatMap((test) => {
      const distance = distances.get(test)?.get(file)
      return distance === undefined ? [] : [{ test, distance: distance - likeness(test, file) }]
    }).sort((one, other) => one.distance - other.distance || (one.test < other.test ? -1 : 1)).map(({ test }) => test)
}

/** The exported names of the workspaces, and the files behind them. */
function entriesOf (root: string): Map<string, string> {
  return new Map(globSync(workspaces, { cwd: root }).flatMap((path) => {
    const { name, exports } = JSON.parse(readFileSync(join(root, path), 'utf8')) as { name: string, exports: Record<string, string> }
    return Object.entries(exports).map(([way, file]): [string, string] => [join(name, way), join(dirname(path), file)])
  }))
}

function importsOf (root: string, file: string, entries: ReadonlyMap<string, string>): string[] {
  return ts.preProcessFile(readFileSync(join(root, file), 'utf8'), true, true).importedFiles.flatMap(({ fileName: name }) =>
    name.startsWith('.') ? [join(dirname(file), name)] : entries.get(name) ?? []
  )
}

/** The number of imports between a file and each file that it reaches. */
function distancesFrom (file: string, imports: ReadonlyMap<string, readonly string[]>): Map<string, number> {
  const distances = new Map([[file, 0]])
  for (const [reached, distance] of distances) {
    for (const next of imports.get(reached) ?? []) if (!distances.has(next)) distances.set(next, distance + 1)
  }
  return distances
}

/**
 * A test mirrors the place of what it tries. Each folder name that they share brings it nearer, and so does its own name where the path of
 * the file has it: that counts for more than imports.
 */
function likeness (test: string, file: string): number {
  const words = new Set(wordsOf(file))
  const shared = (path: string): number => new Set(wordsOf(path)).intersection(words).size
  return shared(dirname(test)) + 5 * shared(basename(test, '.test.ts'))
}

function wordsOf (path: string): string[] {
  return path.replace(/\.ts$/, '').split(/[/-]/)
}
