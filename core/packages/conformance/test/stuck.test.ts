import { type Case, runConformance } from '@dispatch/conformance'
import { runConformanceInChild } from '@dispatch/conformance/command'
import t from 'tap'
import { directory } from '../../../../test/fixtures/providers/folders.ts'
import type { Animal } from '../../../../test/fixtures/zoo/animals.ts'
import { breed, healthy } from '../../../../test/fixtures/zoo/breed.ts'
import { stuckAnimals } from '../../../../test/fixtures/zoo/stuck-animals.ts'

// They wait more than they work.
t.jobs = stuckAnimals.length

/** What the kit finds. It has more time (milliseconds) where the machine is too busy to load a provider whose loading is not the matter. */
async function findings (folder: string, animal: Animal, stuckAfter = 3_000): Promise<{ cases: readonly Case[], told: string }> {
  const { caught, why } = animal
  const { cases } = await runConformanceInChild(folder, { only: [caught], stuckAfter })
  const told = cases.map(({ name, why = '' }) => `${name}\n${why}`).join('\n')
  const isBusy = !why.test(told) && told.includes('does not finish loading') && stuckAfter < 60_000
  return isBusy ? findings(folder, animal, 4 * stuckAfter) : { cases, told }
}

for (const animal of stuckAnimals) {
  void t.test(`a provider that ${animal.name} fails "${animal.caught}", and the kit ends`, { buffered: true }, async (t) => {
    const { cases, told } = await findings(await breed(await directory(t), animal), animal)
    t.same(cases.map(({ rule, status }) => [rule, status]), [[animal.caught, 'failed']])
    t.ok(animal.why.test(told), told)
  })
}

void t.test('what passes, passes in a child too', { buffered: true }, async (t) => {
  const only = ['titles', 'replay', 'secrets'] as const
  t.strictSame(await runConformanceInChild(healthy, { only, stuckAfter: 60_000 }), await runConformance(healthy, { only }))
})
