import { type Case, judged, skipped } from '../report.ts'
import { inTurn } from '../run/in-turn.ts'
import type { Prepared } from '../run/prepare.ts'
import type { ProviderUnderTest } from '../run/subject.ts'
import { attackedCases } from './cancel.ts'

/** Each service with the verb `say`: what its fixtures must show, and what becomes of what is said when a request fails. */
export async function saidCases (subject: ProviderUnderTest, questions: readonly Prepared[]): Promise<Case[]> {
  const services = Object.entries(subject.installed.manifest.services).filter(([, { verbs }]) => verbs.includes('say'))
  if (services.length === 0) return [skipped('said', 'what is said later', 'No service has the verb "say".')]
  const cases = await inTurn(services, async ([service]) => {
    const own = questions.filter(({ call }) => call.verb === 'say' && call.service === service)
    const first = own.find(({ result }) => result['outcome'] === undefined)
    const isRefused = own.some(({ result }) => result['outcome'] === 'rejected')
    return [
      judged('said', `what is said of "${service}"`, first === undefined ? ['There is none: write fixtures/say.accepted.json.'] : []),
      // A provider that asks nobody refuses nothing.
      ...first === undefined || first.call.exchange.length === 0 ? [] : [
        judged('said', `what the vendor does not take of "${service}"`,
          isRefused ? [] : ['There is none: write fixtures/say.refused.json.']),
        ...await attackedCases(subject, first, 'said')
      ]
    ]
  })
  return cases.flat()
}
