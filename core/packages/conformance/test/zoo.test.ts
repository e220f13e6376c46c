import { type Case, runConformance } from '@dispatch/conformance'
import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { directory } from '../../../../test/fixtures/providers/folders.ts'
import { type Animal, animals } from '../../../../test/fixtures/zoo/animals.ts'

const healthy = fileURLToPath(new URL('../../../../test/fixtures/zoo/healthy', import.meta.url))

/** The folder of a broken provider. Throws when a change finds nothing to change. */
async function breed (parent: string, { changes }: Animal): Promise<string> {
  const folder = join(parent, 'animal')
  await cp(healthy, folder, { recursive: true })
  for (const [from, to, file = 'index.js'] of changes) {
    const text = await readFile(join(folder, file), 'utf8')
    await writeFile(join(folder, file), replaced(text, from, to))
  }
  return folder
}

/** The text with `to` instead of the first `from`, whatever the white space. */
function replaced (text: string, from: string, to: string): string {
  const places = [...text.matchAll(/\S/g)].map(({ index }) => index)
  const found = text.replaceAll(/\s/g, '').indexOf(from.replaceAll(/\s/g, ''))
  const [start, end] = [places[found], places[found + from.replaceAll(/\s/g, '').length - 1]]
  if (found < 0 || start === undefined || end === undefined) throw new Error(`The healthy provider has no ${JSON.stringify(from)}.`)
  return text.slice(0, start) + to + text.slice(end + 1)
}

const told = ({ name, why = '' }: Case): string => `${name}\n${why}`
const failed = (cases: readonly Case[]): string[] => cases.filter(({ status }) => status === 'failed').map(told)

await t.test('the healthy provider of the zoo passes everything', async (t) => {
  const { provider, cases } = await runConformance(healthy)
  t.equal(provider, 'zoo')
  t.strictSame(failed(cases), [])
  t.ok(cases.filter(({ status }) => status === 'passed').length >= 100)
})

for (const animal of animals) {
  await t.test(`a provider that ${animal.name} fails "${animal.caught}"`, async (t) => {
    const { cases } = await runConformance(await breed(await directory(t), animal), {
      only: [animal.caught],
      ...(animal.limit !== undefined && { limit: animal.limit })
    })
    const caught = failed(cases)
    t.ok(caught.some((text) => animal.why.test(text)), `${String(animal.why)} in ${JSON.stringify(caught)}`)
  })
}

await t.test('the zoo has a broken provider for every rule that a healthy folder can break', (t) => {
  const caught = new Set(animals.map((animal) => animal.caught))
  t.ok(animals.length >= 15)
  t.ok(caught.size >= 20, [...caught].join(' '))
  t.end()
})
