import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { directory } from '../../../../test/fixtures/providers/folders.ts'

type Recipe = { sources: string[], digest: string, made: string }

const [cache, memory] = [await directory(t), await directory(t)]
const recipe = join(memory, 'runtime.json')
const readRecipe = async (): Promise<Recipe> => JSON.parse(await readFile(recipe, 'utf8')) as Recipe
const numberOfRecipe = async (): Promise<bigint> => (await stat(recipe, { bigint: true })).ino

/** As a process does that has just been started: the module knows nothing yet. */
const make = async (nth: number): Promise<string> => {
  const { makeRuntime } = await import(`../runtime.ts?${nth}`) as typeof import('../runtime.ts')
  return await makeRuntime(cache, memory)
}

const runtime = await make(0)
const bytes = await readFile(runtime)

await t.test('a runtime is made once for the same sources', async (t) => {
  const before = await numberOfRecipe()
  t.equal(await make(1), runtime)
  t.equal(await numberOfRecipe(), before)
  t.ok((await readRecipe()).sources.some((path) => path.endsWith('inside/main.ts')))
})

await t.test('it is made anew where a source has changed since', async (t) => {
  const known = await readRecipe()
  await writeFile(recipe, JSON.stringify({ ...known, digest: known.digest.replace(/^./, (first) => first === '0' ? '1' : '0') }))
  t.equal(await make(2), runtime)
  t.same(await readRecipe(), known)
})

await t.test('what was changed on the disk is not run', async (t) => {
  const { made } = await readRecipe()
  for (const kept of [join(memory, `${made}.mjs`), runtime]) {
    await writeFile(kept, `${bytes.toString()}\nconsole.log('added')`)
    t.equal(await make(kept === runtime ? 3 : 4), runtime)
    t.ok(bytes.equals(await readFile(kept)), kept)
  }
})
