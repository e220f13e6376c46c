import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const module = JSON.stringify(new URL('../../scripts/idle-memory.ts', import.meta.url).href)

/** A process that has filled its heap and then has nothing to do: megabytes of its heap before and afterwards. */
function heapOf (...options: string[]): [before: number, after: number] {
  const source = `
    import { giveMemoryBack } from ${module}
    using giving = giveMemoryBack()
    let kept = Array.from({ length: 2_000_000 }, (_, index) => ({ index }))
    kept = kept.slice(0, 10)
    const megabytes = () => Math.round(process.memoryUsage().heapTotal / 1e6)
    const before = megabytes()
    await new Promise((resolve) => setTimeout(resolve, 12_000))
    console.log(JSON.stringify([before, megabytes(), kept.length]))`
  const { stdout, stderr } = spawnSync(process.execPath, [...options, '--input-type=module', '-e', source], {
    encoding: 'utf8',
    cwd: fileURLToPath(new URL('../..', import.meta.url))
  })
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout) as [number, number]
}

await t.test('a process that has nothing to do gives memory back, where Node may collect', (t) => {
  const [before, after] = heapOf('--expose-gc')
  t.ok(before > 60 && after < before / 3, `${before} MB, then ${after} MB`)
  t.end()
})
