import { spawn } from 'node:child_process'
import { isBuiltin } from 'node:module'
import { json, text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'

const module = JSON.stringify(new URL('../../scripts/idle-memory.ts', import.meta.url).href)

/** Node with the options of package.json's scripts that concern memory. */
const options = ['--expose-gc', '--disable-warning=ExperimentalWarning']

type Measured = { before: number, after: number, stderr: string }

/** What a process prints, as JSON, that runs `source` after it has imported `giveMemoryBack`. `t` ends it. */
async function outputOf (t: Test, source: string): Promise<{ printed: unknown, stderr: string }> {
  const child = spawn(process.execPath, [...options, '--input-type=module', '-e', `import { giveMemoryBack } from ${module}\n${source}`], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    stdio: ['ignore', 'pipe', 'pipe']
  })
  t.teardown(() => child.kill())
  const [printed, stderr] = await Promise.all([json(child.stdout), text(child.stderr)])
  return { printed, stderr }
}

/**
 * A process that has done `work` and then has nothing to do: what `measure` says before, in megabytes, and as soon as it says at most
 * `share` of that. `work` leaves `kept`.
 */
async function megabytesOf (t: Test, { measure, share, work }: { measure: string, share: number, work: string }): Promise<Measured> {
  const { printed, stderr } = await outputOf(t, `
    using giving = giveMemoryBack({ every: 100 })
    ${work}
    const megabytes = () => Math.round(${measure} / 1e6)
    const before = megabytes()
    while (megabytes() > before * ${share}) await new Promise((resolve) => setTimeout(resolve, 50))
    console.log(JSON.stringify({ before, after: megabytes(), kept: kept.length }))`)
  return { ...printed as Omit<Measured, 'stderr'>, stderr }
}

await t.test('a process that has nothing to do gives memory back, where Node may collect', async (t) => {
  const { before, after } = await megabytesOf(t, {
    measure: 'process.memoryUsage().heapTotal',
    share: 1 / 3,
    work: `
      let kept = Array.from({ length: 2_000_000 }, (_, index) => ({ index }))
      kept = kept.slice(0, 10)`
  })
  t.ok(before > 60, `${before} MB, then ${after} MB`)
})

await t.test('what is free between the allocations that are kept is given back too, without a word', { skip: skipped() }, async (t) => {
  const { before, after, stderr } = await megabytesOf(t, {
    measure: 'process.memoryUsage.rss()',
    share: 0.55,
    work: `
      let kept = Array.from({ length: 10_000 }, () => Buffer.allocUnsafeSlow(16_384).fill(1))
      kept = kept.filter((_, index) => index % 10 === 0)`
  })
  t.ok(before > 180, `${before} MB, then ${after} MB`)
  t.equal(stderr, '')
})

await t.test('a process that works collects nothing, and does as soon as it rests', async (t) => {
  const { printed, stderr } = await outputOf(t, `
    let [collected, looks] = [0, 0]
    const kept = Array.from({ length: 2_000_000 }, (_, index) => ({ index }))
    setInterval(() => { looks += 1 }, 20).unref()
    using giving = giveMemoryBack({ every: 20, collect: () => { collected += 1 } })
    while (looks < 20) {
      for (let turn = 0; turn < 100_000; turn++) kept[turn].index += 1
      await new Promise((resolve) => setImmediate(resolve))
    }
    const working = collected
    while (collected === 0) await new Promise((resolve) => setTimeout(resolve, 20))
    console.log(JSON.stringify({ working, resting: collected, kept: kept.length }))`)
  const { working, resting } = printed as { working: number, resting: number }
  t.equal(working, 0)
  t.ok(resting > 0)
  t.equal(stderr, '')
})

/** Other allocators than that of glibc have nothing to ask, and not every Node 26 can call it. */
function skipped (): string | false {
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } }
  if (header.glibcVersionRuntime === undefined) return 'the system has no glibc'
  return !isBuiltin('node:ffi') && 'Node has no node:ffi'
}
