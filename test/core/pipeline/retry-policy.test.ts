import t from 'tap'
import { chainResumeWindow, firstReconcileDelay, reconcileScheduleOf, retryDelayOf } from '../../../core/pipeline/run/retry-policy.ts'
import type { Step } from '../../../core/pipeline/step.ts'

/** Ids with the least jitter, and with the most. */
const [least, max] = ['0196b3a0-0000-7000-8fff-123456780000', '0196b3a0-0000-7000-8fff-12345678ffff']
const delays = (stepId: string): (number | undefined)[] =>
  [0, 1, 2, 3, 4, 5, 6].map((tries) => {
    const delay = retryDelayOf({ stepId, tries })
    return delay === undefined ? undefined : Number(delay.toFixed(6))
  })

void t.test('retries come after the delays of the policy, 20 % earlier at the least and 20 % later at the most', (t) => {
  t.same(delays(least), [1.6, 8, 48, 240, 1440, 5760, undefined])
  t.same(delays(max), [2.4, 12, 72, 360, 2160, 8640, undefined])
  t.same(retryDelayOf({ stepId: max, tries: 0, requested: 30 }), 30, 'the vendor asked for more')
  t.same(retryDelayOf({ stepId: max, tries: 5, requested: 30 }), 7200 * (0.8 + 0.4), 'the policy has more')
  t.end()
})

void t.test('reconciliations come after 10 s, 1 min, 5 min and 1 h, and then daily, for 7 days', (t) => {
  const by = { provider: { manifest: { services: { sms: { idempotency: { kind: 'key' } } } } } }
  const step = { by, service: 'sms', state: { looks: 0 } } as unknown as Step
  const [hour, day] = [3600, 24 * 3600]
  t.same([0, 1, 2, 3, 4, 5, 6].map((done) => reconcileScheduleOf(step, done).after), [10, 60, 300, hour, hour + day, hour + 2 * day,
    hour + 3 * day])
  t.same(reconcileScheduleOf(step), { after: firstReconcileDelay, last: 7 * day })
  t.same(reconcileScheduleOf({ ...step, service: 'email' }), { after: 7 * day, last: 7 * day }, 'nobody can be asked')
  t.equal(chainResumeWindow, day)
  t.end()
})
