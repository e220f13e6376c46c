import { smoke } from '@dispatch/conformance/smoke'
import { loadProvider, LoadTimeout } from '@dispatch/host'
import t from 'tap'
import { directory } from '../../../../test/fixtures/providers/folders.ts'
import { breed, healthy } from '../../../../test/fixtures/zoo/breed.ts'

await t.test('what the fixtures show is replayed', async (t) => {
  const { replayed, faults } = await smoke(await loadProvider(healthy, 'digest', 60), healthy)
  t.same(faults, [])
  t.ok(replayed > 0)
})

await t.test('a call that does not end is called slow, and not wrong', async (t) => {
  const folder = await breed(await directory(t), {
    changes: [['const json = {', 'await new Promise(() => undefined)\n        const json = {']]
  })
  const tried = smoke(await loadProvider(folder, 'digest', 60), folder, { limit: 100, endLimit: 40 })
  t.ok(await tried.catch((error: unknown) => error) instanceof LoadTimeout)
})
