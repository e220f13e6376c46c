import { leaseTimes } from '@dispatch/core'
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { requestLimits } from '../../core/packages/database/connections.ts'
import { callbackRetryDelays } from '../../core/packages/features/callbacks/service/delivery.ts'
import { usualTimeLimit } from '../../core/packages/host/call/invoke.ts'
import { receiverLimit } from '../../core/packages/vendor-io/http/callback.ts'
import { reconcileScheduleOf, retryDelayOf } from '../../core/pipeline/run/retry-policy.ts'
import { settleRetryDelays, settleRetryLimit } from '../../core/pipeline/run/settle.ts'
import { callbackOperations } from '../../plugins/openapi/callback-operations.ts'
import { emptyComponents } from '../../plugins/openapi/components.ts'

const pageOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const [, section = ''] = /## Leases, doubts and retries\n([\s\S]*?)\n## /.exec(pageOf('core/guides/promises.md')) ?? []
const rows = new Map([...section.matchAll(/^\| ([^|]+) \| ([^|]+) \|$/gm)].map(([, what = '', bound = '']) => [what, bound]))
const units = { s: 1, min: 60, h: 3600, days: 24 * 3600 }

/** Figures with the unit that follows them: "2 s, 10 s, 1 min". */
function timesIn (what: string): number[] {
  return [...(rows.get(what) ?? '').matchAll(/([\d.]+) (s|min|h|days)\b/g)].map(([, figure, unit]) =>
    Number(figure) * units[unit as keyof typeof units]
  )
}

void t.test('the figures of the promises are those of the code', (t) => {
  const { duration: good, renewInterval: renewed, margin } = leaseTimes
  t.strictSame(timesIn('A lease is valid for'), [good, renewed])
  t.strictSame(timesIn('Its process stops sending'), [margin])
  const by = { provider: { manifest: { services: { sms: { idempotency: { kind: 'key' } } } } } }
  const looks = [0, 1, 2, 3].map((looks) =>
    reconcileScheduleOf({ by, service: 'sms', state: { looks } } as unknown as Parameters<typeof reconcileScheduleOf>[0])
  )
  t.strictSame(timesIn('An uncertain step is looked up'), [...looks.map(({ after }) => after), looks[0]?.last])
  t.strictSame(timesIn('A look-up that finds nothing counts'), [usualTimeLimit])
  // The step whose jitter is in the middle.
  const tries = [0, 1, 2, 3, 4, 5, 6].map((tries) => retryDelayOf({ stepId: '7fff', tries }))
  const retried = tries.flatMap((after) => after === undefined ? [] : Math.round(after))
  t.strictSame(timesIn('A request that was certainly not sent is retried'), retried)
  // For a place among its company's connections, and for the connection.
  t.strictSame(timesIn('An attempt to record it fails'), [2 * requestLimits.connect / 1000, requestLimits.answer / 1000])
  t.equal(settleRetryDelays.length, 7)
  t.strictSame(timesIn('The outcome of a call is recorded'), [
    settleRetryDelays.reduce((sum, pause) => sum + pause, 0) / 1000,
    settleRetryLimit / 1000
  ])
  t.end()
})

/** "5 s, 2, 5 and 24 h" in seconds: a figure without a unit has that of the next figure. */
function delaysIn (list: string): number[] {
  let unit = ''
  return [...list.matchAll(/(\d+)(?: (s|min|h)\b)?/g)].reverse().map(([, figure, own = unit]) => {
    unit = own
    return Number(figure) * units[unit as keyof typeof units]
  }).reverse()
}

void t.test('the page of API clients and the OpenAPI document tell when callbacks are sent again', (t) => {
  const components = emptyComponents()
  callbackOperations(components)
  const texts = [pageOf('plugins/guides/client.md').replaceAll('\n', ' '), String(components.responses['CallbackTaken']?.['description'])]
  for (const text of texts) {
    const [, limit, delays = ''] = /within (\d+) seconds(?:, it is| is a success).*? sent again after ([\d smin,hand]+)\./.exec(text) ?? []
    t.equal(Number(limit) * 1000, receiverLimit)
    t.strictSame(delaysIn(delays), callbackRetryDelays.slice(1))
  }
  t.equal(callbackRetryDelays[0], 0, 'the first attempt is made at once')
  t.end()
})

void t.test('the core is as small as its page says', (t) => {
  const [, max = ''] = /at most ([\d,]+) lines of TypeScript/.exec(pageOf('core/README.md')) ?? []
  const cwd = fileURLToPath(new URL('../../core/', import.meta.url))
  const files = globSync('**/*.ts', { cwd, exclude: ['packages/**', '**/node_modules/**', 'store/migrations/**'] })
  t.ok(files.length > 100)
  const lines = files.reduce((sum, file) => sum + pageOf(`core/${file}`).split('\n').length - 1, 0)
  t.ok(lines <= Number(max.replaceAll(',', '')), `${lines} lines`)
  t.end()
})

void t.test('nothing of the core takes all that the pipeline works with, but what puts it together', (t) => {
  const cwd = fileURLToPath(new URL('../../', import.meta.url))
  const files = globSync('{core,plugins}/**/*.ts', { cwd, exclude: ['core/packages/**', '**/node_modules/**'] })
  t.strictSame(files.filter((file) => pageOf(file).includes('PipelineParts')).toSorted(), [
    'core/index.ts',
    'core/pipeline/pipeline.ts',
    'plugins/container/dependencies.ts'
  ])
  const takers = pageOf('core/pipeline/pipeline.ts').match(/\w+: PipelineParts\b/g)
  t.strictSame(takers, ['dependencies: PipelineParts'])
  t.end()
})
