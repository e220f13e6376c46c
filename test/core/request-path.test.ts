import { readFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { quickRenderer } from '../support/quick-renderer.ts'
import { invoiceRequest, startService } from '../support/service.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The files of which a function runs for a request, as V8 counts them; packages of others and tests aside. */
async function filesOf (session: Session, request: () => Promise<unknown>): Promise<Set<string>> {
  // What ran before is forgotten with the first report.
  await session.post('Profiler.takePreciseCoverage')
  await request()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  const ran = result.filter(({ functions }) =>
    functions.some(({ functionName, ranges: [range] }) => functionName !== '' && (range?.count ?? 0) > 0)
  )
  const files = ran.filter(({ url }) => url.startsWith('file:')).map(({ url }) => relative(root, fileURLToPath(url)))
  return new Set(files.filter((file) => /^(core|plugins|providers)\/(?!.*node_modules\/)/.test(file)))
}

/**
 * It is about 175, and some that repeat by themselves on a slow machine, such as which language of templates all processes read.
 * A change that takes a request through more raises this, and says why.
 */
const limit = 186

/** What core/README.md lists, but for the file that has only registered the hooks. */
const listed = [...readFileSync(`${root}core/README.md`, 'utf8').matchAll(/^\| \d+ \| \[([\w/.-]+)\]/gm)].map(([, path = '']) => path)
  .filter((path) => path !== 'plugins/app.ts')
  .map((path) => path.startsWith('plugins/') ? path : `core/${path}`)

await t.test('a request whose client waits passes no more files than before, and those that the page of the core lists', async (t) => {
  const service = await startService(t, { replacements: { renderer: quickRenderer } })
  const request = async (): Promise<void> => {
    const { status } = await service.send('POST', '/api/invoicing', { body: invoiceRequest() })
    t.equal(status, 200)
  }
  await request()
  const session = new Session()
  session.connect()
  t.teardown(() => {
    session.disconnect()
  })
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  // What repeats by itself runs beside some of the three, and not beside all.
  const [first, second, third] = [await filesOf(session, request), await filesOf(session, request), await filesOf(session, request)]
  await session.post('Profiler.stopPreciseCoverage')
  const passed = first.intersection(second).intersection(third)
  t.ok(passed.size <= limit, `${passed.size} files`)
  t.equal(listed.length, 19)
  t.strictSame(listed.filter((file) => !passed.has(file)), [])
})
