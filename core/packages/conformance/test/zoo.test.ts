import { type Case, runConformance } from '@dispatch/conformance'
import t from 'tap'
import { directory } from '../../../../test/fixtures/providers/folders.ts'
import { animals } from '../../../../test/fixtures/zoo/animals.ts'
import { breed, healthy } from '../../../../test/fixtures/zoo/breed.ts'

// More than fifty providers, each with connections of its own (milliseconds).
t.setTimeout(1_200_000)

const reported = ({ name, why = '' }: Case): string => `${name}\n${why}`
const failed = (cases: readonly Case[]): string[] => cases.filter(({ status }) => status === 'failed').map(reported)

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
