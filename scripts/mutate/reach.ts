import { readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path/posix'
import { type Imports, readImports } from '../test/imports.ts'

/**
 * The tests that reach a line of a file, the likeliest to notice a change first: in turn one that is near by its imports and its name, and
 * two that use the same rare words. A test of a whole service reaches everything at the same distance: only its words tell what it tries.
 */
export type Reach = (file: string, line: number) => string[]

/** Reads who imports whom in the tree at `root`. */
export function reachOf (root: string, imports: Imports = readImports(root)): Reach {
  const tests = imports.files.filter((file) => file.endsWith('.test.ts'))
  const distances = new Map(tests.map((test) => [test, distancesFrom(test, imports)]))
  const alike = wordLikeness(root, tests)
  return (file, line) => {
    const reaching = tests.filter((test) => distances.get(test)?.has(file) === true)
    const near = sortedBy(reaching, (test) => (distances.get(test)?.get(file) ?? 0) - pathLikeness(test, file))
    const likely = sortedBy(reaching, alike(file, line))
    return [...new Set(near.flatMap((test, index) => [test, ...likely.slice(2 * index, 2 * index + 2)]))]
  }
}

/** The smallest first, and the same order each time. */
function sortedBy (tests: readonly string[], rank: (test: string) => number): string[] {
  return tests.map((test) => ({ test, rank: rank(test) }))
    .sort((one, other) => one.rank - other.rank || (one.test < other.test ? -1 : 1)).map(({ test }) => test)
}

/**
 * How much the words of a test are those of a file, and of the lines around one; the more, the smaller. A word counts the more the fewer
 * tests have it, and that of a long test less, because it has many.
 */
function wordLikeness (root: string, tests: readonly string[]): (file: string, line: number) => (test: string) => number {
  const wordsIn = (text: string): Set<string> =>
    new Set(text.match(/[A-Za-z][a-z]{2,}/g)?.map((word) => word.toLowerCase().replace(/s$/, '')))
  const read = (file: string): string => readFileSync(join(root, file), 'utf8')
  const found = new Map(tests.map((test) => [test, wordsIn(read(test))]))
  const counts = new Map<string, number>()
  for (const words of found.values()) for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  const weigh = (word: string): number => Math.log(tests.length / (counts.get(word) ?? tests.length))
  return (file, line) => {
    const text = read(file)
    const [all, around] = [wordsIn(text), wordsIn(text.split('\n').slice(Math.max(0, line - 15), line + 12).join('\n'))]
    return (test) => {
      const words = found.get(test) ?? new Set()
      const shared = [...all.intersection(words), ...around.intersection(words), ...around.intersection(words)]
      return -shared.reduce((sum, word) => sum + weigh(word), 0) / words.size ** 0.6
    }
  }
}

/** The number of imports between a file and each file that it reaches. */
function distancesFrom (file: string, imports: Imports): Map<string, number> {
  const distances = new Map([[file, 0]])
  for (const [reached, distance] of distances) {
    for (const next of imports.of(reached)) if (!distances.has(next)) distances.set(next, distance + 1)
  }
  return distances
}

/**
 * A test mirrors the place of what it tries. Each folder name that they share brings it nearer, and so does its own name where the path of
 * the file has it: that counts for more than imports.
 */
function pathLikeness (test: string, file: string): number {
  const words = new Set(wordsOf(file))
  const shared = (path: string): number => new Set(wordsOf(path)).intersection(words).size
  return shared(dirname(test)) + 5 * shared(basename(test, '.test.ts'))
}

function wordsOf (path: string): string[] {
  return path.replace(/\.ts$/, '').split(/[/-]/)
}
