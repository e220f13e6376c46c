import t from 'tap'
import type { DispatchStatus } from '../../../core/packages/contract/states.ts'
import { reconciliationFollowUpOf } from '../../../core/pipeline/run/after-reconciliation.ts'
import type { Run } from '../../../core/pipeline/run/run.ts'
import type { SettlementFollowUp } from '../../../core/store/dispatch/steps.ts'
import { judgeChain, template } from './support.ts'

const day = 24 * 3600
const { plan } = judgeChain(['postal', 'sms'], {
  template,
  postal: { recipient: { name: 'Ada', address: '1 rue', city: 'Paris', postalCode: '75002', country: 'FR' } },
  sms: { phoneNumber: '+33612345678', message: 'It is on its way.' }
})
const [letter, message] = plan?.steps ?? []
if (plan === undefined || letter === undefined || message === undefined) throw new Error('There is no plan.')
const run: Run = {
  runId: '0196b3a0-0000-7000-8fff-000000000001',
  dispatchId: '0196b3a0-0000-7000-8fff-000000000002',
  companyId: 2,
  actor: { kind: 'user', userId: 2 },
  metadata: {},
  test: false,
  detached: false,
  createdAt: new Date(0),
  steps: [letter, message],
  deferred: []
}

/** The seconds after which a job goes on with the dispatch; it is not added to a queue here. */
const dependencies = {
  jobs: { dispatch: (_: unknown, seconds = 0) => ({ dispatch: seconds }) },
  newId: () => '0196b3a0-0000-7000-8fff-000000000003'
} as unknown as Parameters<typeof reconciliationFollowUpOf>[0]

const accepted = { outcome: 'accepted', response: { id: '1', status: 'created' } } as const
/** What follows, and whether somebody is told of it. */
const shown = ({ tell, ...following }: SettlementFollowUp): object => ({ ...following, told: tell !== undefined })
const followUp = (of: { step?: typeof letter, from?: DispatchStatus, doubted?: number }): object => {
  const { step = letter, from = 'uncertain', doubted = 60 } = of
  return shown(reconciliationFollowUpOf(dependencies, run, step, { settlement: accepted, doubted, from }))
}

void t.test('a chain goes on where its later steps still hold their price, for a day', (t) => {
  const goesOn = { detached: true, status: 'queued', jobs: [{ dispatch: 0 }], told: false }
  const ends = (status: DispatchStatus): object => ({ detached: true, status, addressed: false, told: true })
  for (const from of ['running', 'uncertain', 'queued'] as const) t.same(followUp({ from }), goesOn, from)
  t.same(followUp({ doubted: day }), goesOn, 'the last second')
  t.same(followUp({ doubted: day + 1 }), ends('partial'), 'too late')
  for (const from of ['partial', 'failed', 'cancelled'] as const) t.same(followUp({ from }), ends('partial'), from)
  t.same(followUp({ step: message }), ends('succeeded'), 'nothing is left')
  t.end()
})

void t.test('what was surely not sent is sent again after the delay of the policy, unless a person must decide', (t) => {
  const refused = { outcome: 'unavailable', error: { word: 'provider_unavailable', message: 'Gone.' } } as const
  const step = { ...letter, stepId: run.runId.replace(/.{4}$/, '0000') }
  const of = { settlement: refused, doubted: 60, from: 'uncertain' } as const
  t.same(shown(reconciliationFollowUpOf(dependencies, run, step, { ...of, again: true })), {
    detached: true,
    tryAfter: 1.6,
    status: 'queued',
    jobs: [{ dispatch: 1.6 }],
    told: false
  })
  t.same(shown(reconciliationFollowUpOf(dependencies, run, step, of)), { detached: true, status: 'failed', addressed: false, told: true })
  t.end()
})
