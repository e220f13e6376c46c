import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { DispatchCommand } from '../../../core/pipeline/command.ts'
import { planInTime } from '../../../core/pipeline/pipeline.ts'
import { type RehearsalDependencies, rehearse } from '../../../core/pipeline/run/rehearse.ts'
import { has } from '../../support/matching.ts'
import { judge } from './support.ts'

const never = new Promise<never>(() => undefined)

/** Makes nothing, ever. */
const dependencies = {
  newId: randomUUID,
  now: () => new Date('2026-03-14T09:30:00.000Z'),
  files: { put: () => never },
  templateWorkers: { render: () => never }
} as unknown as RehearsalDependencies

await t.test('what cannot be made in time is not checked, and a warning says so: nothing is refused', async (t) => {
  const { plan } = judge('sms', { template: { id: 1, data: {} }, sms: { phoneNumber: '+33612345678' } })
  if (plan === undefined) throw new Error('There is no plan.')
  const command = {
    actor: { companyId: 1, userId: 1 },
    services: ['sms'],
    requestId: '1',
    mode: 'asynchronous'
  } as unknown as DispatchCommand
  for (const extent of ['everything', 'what is made later'] as const) {
    const { warnings, texts } = await rehearse(dependencies, plan, command, { extent, limit: 20 })
    has(t, warnings, [{ path: '/template/data', code: 'not_checked' }], extent)
    t.equal(texts.size, 0)
  }
})

await t.test('a validation that is not there in time is no fault of the request', async (t) => {
  t.equal(await planInTime(Promise.resolve('plan')), 'plan')
  has(t, await planInTime(never, 20).catch((error: unknown) => error), { word: 'timeout' })
})
