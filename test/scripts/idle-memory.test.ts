import { spawnSync } from 'node:child_process'
import { isBuiltin } from 'node:module'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const module = JSON.stringify(new URL('../../scripts/idle-memory.ts', import.meta.url).href)

/** Node with the options of package.json's scripts that concern memory. */
const options = ['--expose-gc', '--disable-warning=ExperimentalWarning']

/**
 * A process that has done `work` and then has nothing to do: what `measure` says before and afterwards, in megabytes. `work` leaves `kept`.
 */
function megabytesOf (measure: string, work: string): { before: number, after: number, stderr: string } {
  const source = `
    import { giveMemoryBack } from ${module}
    using giving = giveMemoryBack()
    ${work}
    const megabytes = () => Math.round(${measure} / 1e6)
    const before = megabytes()
    // A look comes every 5 s, and on a busy machine the process seems busy itself.
    for (let second = 0; second < 60 && megabytes() > before / 2; second++) await new Promise((resolve) => setTimeout(resolve, 1_000))
    console.log(JSON.stringify({ before, after: megabytes(), kept: kept.length }))`
  const { stdout, stderr } = spawnSync(process.execPath, [...options, '--input-type=module', '-e', source], {
    encoding: 'utf8',
    cwd: fileURLToPath(new URL('../..', import.meta.url))
  })
  if (stdout === '') throw new Error(stderr)
  return { ...JSON.parse(stdout) as { before: number, after: number }, stderr }
}

await t.test('a process that has nothing to do gives memory back, where Node may collect', (t) => {
  const { before, after } = megabytesOf('process.memoryUsage().heapTotal', `
    let kept = Array.from({ length: 2_000_000 }, (_, index) => ({ index }))
    kept = kept.slice(0, 10)`)
  t.ok(before > 60 && after < before / 3, `${before} MB, then ${after} MB`)
  t.end()
})

await t.test('what is free between the allocations that are kept is given back too, without a word', { skip: skipped() }, (t) => {
  const { before, after, stderr } = megabytesOf('process.memoryUsage.rss()', `
    let kept = Array.from({ length: 10_000 }, () => Buffer.allocUnsafeSlow(16_384).fill(1))
    kept = kept.filter((_, index) => index % 10 === 0)`)
  t.ok(before > 180 && after < before - 100, `${before} MB, then ${after} MB`)
  t.equal(stderr, '')
  t.end()
})

/** Other allocators than that of glibc have nothing to ask, and not every Node 26 can call it. */
function skipped (): string | false {
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } }
  if (header.glibcVersionRuntime === undefined) return 'the system has no glibc'
  return !isBuiltin('node:ffi') && 'Node has no node:ffi'
}
