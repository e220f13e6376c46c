import { readFile, writeFile } from 'node:fs/promises'
import t from 'tap'
import { compileTemplate } from '../compile/compile.ts'
import { readSource } from '../source/source.ts'
import { made, pagesOf } from './support.ts'

const folder = new URL('golden/', import.meta.url)
const read = async (file: string): Promise<string> => await readFile(new URL(file, folder), 'utf8')

const template = compileTemplate(readSource(await read('blocks.yaml'), 'blocks.yaml', ['file']).source)
const data = JSON.parse(await read('blocks.json')) as Record<string, unknown>

/** Every text of a document in this language with its place: page, millimetres from the left and from the top. */
async function placesOf (language: string): Promise<string> {
  const pages = await pagesOf(await made('pdf', template, { ...data, language }))
  const millimetres = (points: number): string => (points * 25.4 / 72).toFixed(1).padStart(6)
  return pages.flatMap((page, index) => page.map(({ text, x, y }) => `${String(index + 1)} ${millimetres(x)} ${millimetres(y)}  ${text}\n`))
    .join('')
}

// `GOLDEN=write` writes them anew: look at what has changed before it is kept.
for (const language of ['en', 'fr', 'de']) {
  void t.test(`in ${language}, every text stands at its place`, async (t) => {
    const places = await placesOf(language)
    if (process.env['GOLDEN'] === 'write') await writeFile(new URL(`blocks.${language}.txt`, folder), places)
    t.equal(places, await read(`blocks.${language}.txt`))
  })
}
