import { missCountsAfter, type ServiceManifest, usualTimeLimit } from '@dispatch/host'
import type { ProvidedName } from '@dispatch/services'
import { type Case, judged, skipped } from '../report.ts'
import { differs } from '../run/compare.ts'
import { conflict, type InjectedFault, injectedFaults, positionOf } from '../run/fault-injection.ts'
import { inTurn } from '../run/in-turn.ts'
import type { Prepared } from '../run/prepare.ts'
import type { ProviderUnderTest } from '../run/subject.ts'
import { ownFaults, passedFrom, type Played } from './outcomes.ts'

type Offered = ServiceManifest<ProvidedName>

/** The answers of a vendor that is still processing a request and accepts it later. */
const evasions = injectedFaults.filter((attack) =>
  attack.status === conflict || ('script' in attack && 'cut' in attack.script && attack.script.cut === 'after-body')
)

/** The first accepted dispatch of each service, with a vendor that first gives another answer or none, and then accepts it. */
export async function lateCases (subject: ProviderUnderTest, fit: readonly Played[], questions: readonly Prepared[]): Promise<Case[]> {
  const { installed: { manifest } } = subject
  const cases = await inTurn(Object.entries(manifest.services), async ([service, offered]) => {
    const { idempotency: { kind } } = offered
    if (kind === 'none') return [skipped('late', service, 'The service declares { kind: \'none\' }: a person tells what became of it.')]
    const late = fit.map((played) => ({ ...played, at: pointOf(subject, played) })).find(({ at, prepared: { call, result } }) =>
      at >= 0 && call.service === service && call.checkpointed === undefined && result['outcome'] === 'accepted'
    )
    if (late === undefined) return [skipped('late', service, 'No accepted fixture sends a request that changes something.')]
    const requested = questions.filter(({ call }) => call.verb === 'lookup' && call.service === service)
    const isEvading = kind === 'key' && !Object.hasOwn(manifest.errors.map, String(conflict))
    const played = await inTurn(evasions.filter(({ status }) => isEvading || status === undefined), async (attack) => {
      const faults = await lateFaults(subject, { ...late, attack, offered, requested })
      return judged('late', `${late.prepared.name}: request ${late.at + 1} ${attack.name}, and accepted all the same`, faults)
    })
    return [...played,
      ...requested.filter(({ result }) => result['found'] === 'accepted').map((shown) => shownCase(subject, shown, offered))]
  })
  return cases.flat()
}

/** The index of the request that cannot be repeated; -1 where there is none. */
function pointOf ({ installed: { manifest } }: ProviderUnderTest, { prepared, run }: Played): number {
  const { exchange } = prepared.call
  return exchange.findIndex((_, at) => positionOf(exchange, at, passedFrom(manifest.services, prepared, run)) === 'at')
}

type Late = { prepared: Prepared, at: number, attack: InjectedFault, offered: Offered, requested: readonly Prepared[] }

/**
 * The outcome is uncertain at first, even if a look-up finds nothing too early. It is accepted when the request is repeated under its key.
 */
async function lateFaults (subject: ProviderUnderTest, { prepared, at, attack, offered, requested }: Late): Promise<string[]> {
  const { manifest } = subject.installed
  const unseen = requested.find(({ result }) => result['found'] === 'absent')?.call.exchange ?? []
  const { result, seen, saved } = await subject.play({
    ...prepared,
    call: { ...prepared.call, exchange: [...prepared.call.exchange, ...unseen] }
  }, { attack: { at, how: attack } })
  const called = result.outcome === 'uncertain'
    ? []
    : [`It is called ${result.outcome}; the vendor may be at work on it: it must be uncertain.`]
  const made = called.length > 0 ? called : ownFaults(manifest, ['uncertain'], seen)
  if (made.length > 0 || offered.idempotency.kind !== 'key') return made
  const reached = saved.at(-1)?.id
  const again = await subject.play({ ...prepared, call: { ...prepared.call, ...(reached !== undefined && { checkpointed: reached }) } })
  if (again.result.outcome !== 'accepted') {
    return [`Repeated under its key, when the vendor has accepted it, it is called ${again.result.outcome}.`]
  }
  return differs('response', prepared.result['response'], again.result.response)
}

/** A look-up that finds nothing counts only after the time at which the vendor would show what it accepted at the end of the call. */
function shownCase ({ fixtures: { questions } }: ProviderUnderTest, { name }: Prepared, offered: Offered): Case {
  const { timeLimit = usualTimeLimit } = offered
  const counts = missCountsAfter(offered) - timeLimit
  const { appearsAfter = counts } = questions.find((question) => question.name === name)?.fixture ?? {}
  const [field, kind] = offered.idempotency.kind === 'key' ? ['ttl', 'key'] : ['visibleAfter', 'lookup']
  return judged('late', `${name}: shown ${appearsAfter} s after it was accepted`, appearsAfter <= counts ? [] : [
    `A look-up that finds nothing says "not accepted" after ${counts} s: declare { kind: '${kind}', ${field}: ${appearsAfter} } or more.`
  ])
}
