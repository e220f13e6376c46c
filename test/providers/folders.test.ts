import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { loadProvider } from '../../core/packages/host/load/load.ts'
import { contains, has } from '../support/matching.ts'

type Field = { title?: unknown, items?: { properties?: Record<string, Field> } }

const root = fileURLToPath(new URL('../../providers', import.meta.url))
/** One folder a vendor; the simulator stands in for all of them at once. */
const folders = globSync(['*/index.ts', 'community/*/index.ts'], { cwd: root }).map((file) => join(file, '..')).filter((folder) =>
  folder !== 'simulator'
).sort()

/** Lines of code in a file, neither empty nor comment: so much fits on two screens. */
const max = 125

for (const folder of folders) {
  await t.test(`${folder} is read at a glance`, (t) => {
    for (const file of globSync('**/*.ts', { cwd: join(root, folder) })) {
      const lines = readFileSync(join(root, folder, file), 'utf8').split('\n')
      const code = lines.filter((line) => !/^\s*((\/\/|\/\*|\*).*)?$/.test(line))
      t.ok(code.length <= max, `${file}: ${code.length} lines of code`)
    }
    t.end()
  })

  await t.test(`${folder}: every field of its forms has a title and a help, in English and French, and stands in its README`, async (t) => {
    const { manifest: { settings, requestSettings } } = await loadProvider(join(root, folder), 'as it is', 10)
    const readme = readFileSync(join(root, folder, 'README.md'), 'utf8')
    for (const [name, field] of [settings, requestSettings].flatMap(({ properties }) => Object.entries(properties))) {
      for (const [path, one] of fieldsOf(name, field)) {
        const texts = { title: /./, description: /./ }
        has(t, one, { ...texts, 'x-texts': { fr: texts } }, path)
      }
      contains(t, readme, `\`${name}\``)
    }
  })
}

/** A field with those inside of it, where it is a list of objects. */
function fieldsOf (path: string, field: Field): [string, Field][] {
  return [[path, field], ...Object.entries(field.items?.properties ?? {}).flatMap(([name, inner]) => fieldsOf(`${path}/${name}`, inner))]
}
