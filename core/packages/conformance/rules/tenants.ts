import { idempotencyKeys, type Prepared, prepareSend, references } from '../fixtures/prepare.ts'
import { type Case, judged, skipped } from '../report.ts'
import { reveals } from '../run/canary.ts'
import type { CallRun } from '../run/run.ts'
import { compareRun, inTurn } from './replay.ts'
import type { ProviderUnderTest } from './subject.ts'

/** Runs each accepted dispatch for two tenants at once, each with its own vendor. Each answer waits until both tenants have reached it. */
export async function tenantCases (subject: ProviderUnderTest, fit: readonly Prepared[]): Promise<Case[]> {
  const { installed, fixtures: { sends }, stages: [one, other] } = subject
  const names = new Set(fit.filter(({ result }) => result['outcome'] === 'accepted').map(({ name }) => name))
  const named = sends.filter(({ name }) => names.has(name))
  if (named.length === 0) return [skipped('tenants', 'two tenants at once', 'No accepted fixture could be replayed.')]
  return await inTurn(named, async (fixture) => {
    const first = prepareSend(installed, fixture, { seed: 1 })
    const second = prepareSend(installed, fixture, { seed: 2, reference: references[1], idempotencyKey: idempotencyKeys[1] })
    const meet = createMeeting()
    const play = (prepared: Prepared, stage: typeof one): Promise<CallRun> =>
      subject.play(prepared, { meet: meet.at }, stage).finally(meet.leave)
    const runs = await Promise.all([play(first, one), play(second, other)])
    return judged('tenants', `${fixture.name}: for two tenants at once`, [
      ...mixed('first', first, runs[0], second),
      ...mixed('second', second, runs[1], first)
    ])
  })
}

function mixed (whose: string, own: Prepared, run: CallRun, { canaries }: Prepared): string[] {
  const sent = run.requests.map(({ request: { path, headers, body } }) => `${path} ${JSON.stringify(headers)} ${body.toString()}`).join(
    '\n'
  )
  const foreign = canaries.filter(({ is }) => !own.canaries.some((canary) => canary.is === is) && reveals(sent, is)).map(({ field }) =>
    `The ${whose} tenant's requests have the other's "${field}".`
  )
  return foreign.length > 0 ? foreign : compareRun(own, run).map((difference) => `The ${whose} tenant: ${difference}`)
}

type Meeting = { at: (index: number) => Promise<void>, leave: () => void }

/** A barrier at which two tenants wait for each other, as long as both are running. */
function createMeeting (): Meeting {
  const waiting = new Map<number, () => void>()
  let alone = false
  return {
    at (index) {
      const other = waiting.get(index)
      if (alone || other !== undefined) {
        other?.()
        return Promise.resolve()
      }
      return new Promise((resolve) => waiting.set(index, resolve))
    },
    leave () {
      alone = true
      for (const go of waiting.values()) go()
    }
  }
}
