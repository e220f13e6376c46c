import { isRecord } from '@dispatch/common'
import { type Case, judged, skipped } from '../report.ts'
import { reveals } from '../run/canary.ts'
import { inTurn } from '../run/in-turn.ts'
import { otherSettings } from '../run/other-settings.ts'
import { idempotencyKeys, type Prepared, prepareSend, references } from '../run/prepare.ts'
import type { CallRun } from '../run/run.ts'
import type { ProviderUnderTest } from '../run/subject.ts'
import { compareRun } from './replay.ts'

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
      ...mixed('second', second, runs[1], first),
      ...await beside(subject, first, second)
    ])
  })
}

/**
 * What the second tenant, all of whose settings are others, sends beside the first one, compared with what it sends alone. What differs
 * between two runs of it alone does not count, such as a random text.
 */
async function beside ({ installed, play, stages: [one, other] }: ProviderUnderTest, first: Prepared, second: Prepared): Promise<string[]> {
  const settings = otherSettings(installed.manifest.settings, second.call.settings, otherSeed)
  const own = { ...second, call: { ...second.call, settings } }
  const alone = [await play(own, {}, other), await play(own, {}, other)].map(fieldsOf)
  const meet = createMeeting()
  const [firstRun, together] = await Promise.all([
    play(first, { meet: meet.at }, one).finally(meet.leave),
    play(own, { meet: meet.at }, other).finally(meet.leave)
  ])
  const sent = fieldsOf(together)
  const stable = [...alone[0] ?? []].filter(([field, value]) => alone[1]?.get(field) === value)
  return [
    ...compareRun(first, firstRun).map((difference) => `The first tenant, beside one with other settings: ${difference}`),
    ...stable.filter(([field, value]) => sent.get(field) !== value).map(([field]) =>
      `Beside another tenant, ${field} is not what the tenant sends alone.`
    )
  ]
}

const otherSeed = 3

/** What was sent, by a name for each field. */
function fieldsOf ({ requests }: CallRun): Map<string, string> {
  return new Map(
    requests.flatMap(
      ({ request: { method, host, path, search, headers, json, pairs, parts, body } }, index): (readonly [string, string])[] => {
        const name = (field: string): string => `the ${field} of request ${index + 1}`
        return [
          [name('address'), `${method} ${host}${path}`],
          ...search.map(([key, value]) => [name(`query field "${key}"`), value] as const),
          ...Object.entries(headers).filter(([header]) => !passing.has(header)).map(([header, value]) =>
            [name(`header "${header}"`), value] as const
          ),
          ...(pairs ?? []).map(([key, value]) => [name(`form field "${key}"`), value] as const),
          ...(parts ?? []).map((part) => [name(`part "${part.name}"`), part.body.toString('base64')] as const),
          ...isRecord(json)
            ? Object.entries(json).map(([key, value]) => [name(`JSON field "${key}"`), JSON.stringify(value)] as const)
            : [],
          ...pairs === undefined && parts === undefined && !isRecord(json) ? [[name('body'), body.toString('base64')] as const] : []
        ]
      }
    )
  )
}

/** Headers of the connection and of the form of the body: a boundary is another each time. */
const passing = new Set(['connection', 'content-length', 'content-type', 'date', 'host', 'user-agent'])

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
