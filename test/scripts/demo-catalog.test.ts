import t from 'tap'
import { tryTwice } from '../../scripts/demo-catalog/demo-catalog.ts'

await t.test('an adapter that cannot be packed keeps no other one out of the demo catalog, and is tried once more', async (t) => {
  const tried: string[] = []
  const failed = await tryTwice(['broken', 'slow', 'fine'], async (name) => {
    tried.push(name)
    await Promise.resolve()
    if (name === 'broken' || tried.length === 2) throw new Error(`${name} does not load`)
  })
  t.same(tried, ['broken', 'slow', 'fine', 'broken', 'slow'])
  t.same([...failed].map(([name, error]) => [name, (error as Error).message]), [['broken', 'broken does not load']])
})
