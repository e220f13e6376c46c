import { runConformance } from '@dispatch/conformance'
import { runConformanceInChild } from '@dispatch/conformance/command'
import t from 'tap'
import { directory } from '../../../../test/fixtures/providers/folders.ts'
import { breed, healthy } from '../../../../test/fixtures/zoo/breed.ts'
import { stuckAnimals } from '../../../../test/fixtures/zoo/stuck-animals.ts'

/** Milliseconds: the kit and a provider are loaded in less, also by a processor that is four times slower. */
const stuckAfter = 5_000

// They wait more than they work.
t.jobs = stuckAnimals.length

for (const animal of stuckAnimals) {
  void t.test(`a provider that ${animal.name} fails "${animal.caught}", and the kit ends`, { buffered: true }, async (t) => {
    const { cases } = await runConformanceInChild(await breed(await directory(t), animal), { only: [animal.caught], stuckAfter })
    const reported = cases.map(({ name, why = '' }) => `${name}\n${why}`).join('\n')
    t.same(cases.map(({ rule, status }) => [rule, status]), [[animal.caught, 'failed']])
    t.ok(animal.why.test(reported), reported)
  })
}

void t.test('where nothing is heard of the kit, the machine is too busy, and nothing is said of the provider', { buffered: true },
  async (t) => {
    const { cases } = await runConformanceInChild(healthy, { only: ['replay'], heardWithin: 1 })
    t.same(cases.map(({ why }) => /Nothing was heard .* too busy/.test(why ?? '')), [true])
  })

void t.test('what passes, passes in a child too', { buffered: true }, async (t) => {
  const only = ['titles', 'replay', 'secrets'] as const
  t.strictSame(await runConformanceInChild(healthy, { only, stuckAfter: 60_000 }), await runConformance(healthy, { only }))
})
