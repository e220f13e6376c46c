import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { tryTwice } from '../../scripts/demo-catalog/demo-catalog.ts'
import { makersDigest, packedOnce } from '../../scripts/demo-catalog/packed-once.ts'
import { matches } from '../support/matching.ts'

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

await t.test('so many adapters are packed together, and each of them once', async (t) => {
  const open: (() => void)[] = []
  const tried: string[] = []
  const done = tryTwice(['a', 'b', 'c', 'd'], async (name) => {
    tried.push(name)
    await new Promise<void>((resolve) => open.push(resolve))
  }, 3)
  t.same(tried, ['a', 'b', 'c'], 'three of them at a time')
  while (tried.length < 4) {
    open.shift()?.()
    await new Promise(setImmediate)
  }
  for (const end of open) end()
  t.same([...await done], [])
  t.same(tried, ['a', 'b', 'c', 'd'])
})

await t.test('an adapter is packed once for each content of its folder, whoever asks', async (t) => {
  const folder = t.testdir({})
  const cache = join(folder, 'cache')
  let times = 0
  const pack = async (): Promise<string> => {
    times++
    const path = join(folder, `acme-1.0.${times}.tgz`)
    writeFileSync(path, `package ${times}`)
    return await Promise.resolve(path)
  }
  const asked = { cache, adapter: 'acme', digest: 'one' }
  const made = await packedOnce(asked, pack)
  const kept = await packedOnce(asked, pack)
  t.same([made, kept].map(({ name, bytes }) => [name, bytes.toString()]), Array(2).fill(['acme-1.0.1.tgz', 'package 1']))
  t.equal(times, 1)

  const changed = await packedOnce({ ...asked, digest: 'two' }, pack)
  t.equal(changed.bytes.toString(), 'package 2', 'another content is another package')
  t.same(readdirSync(join(cache, 'acme')), ['two'], 'and takes the place of the one before')

  mkdirSync(join(cache, 'broken/one'), { recursive: true })
  t.equal((await packedOnce({ ...asked, adapter: 'broken' }, pack)).name, 'acme-1.0.3.tgz', 'who was killed half-way has kept nothing')
  writeFileSync(join(folder, 'file'), '')
  t.equal((await packedOnce({ ...asked, cache: join(folder, 'file') }, pack)).name, 'acme-1.0.4.tgz', 'a place that takes nothing')

  const keptAt = (): string => join(cache, 'acme/two', readdirSync(join(cache, 'acme/two')).find((name) => name.endsWith('.tgz')) ?? '')
  for (const broken of ['pack', '']) {
    writeFileSync(keptAt(), broken)
    matches(t, (await packedOnce({ ...asked, digest: 'two' }, pack)).bytes.toString(), /^package \d$/,
      'what a full disk has cut is not used')
    matches(t, readFileSync(keptAt(), 'utf8'), /^package \d$/, 'and is replaced')
  }
})

await t.test('another kit or packer makes another package of the same folder', async (t) => {
  const folder = t.testdir({ kit: { 'rule.ts': 'one' }, libraries: '1.0.0' })
  const places = [join(folder, 'kit'), join(folder, 'libraries')]
  const before = await makersDigest(places)
  t.equal(await makersDigest(places), before)
  writeFileSync(join(folder, 'kit/rule.ts'), 'two')
  const after = await makersDigest(places)
  t.not(after, before)
  writeFileSync(join(folder, 'libraries'), '1.0.1')
  t.not(await makersDigest(places), after)
  matches(t, await makersDigest(), /^[0-9a-f]{64}$/, 'those of this checkout')
})
