import { type Case, judged, skipped } from '../report.ts'
import type { Prepared } from '../run/prepare.ts'
import type { ProviderUnderTest } from '../run/subject.ts'

/** What the fixtures of each service with the verbs `received` and `receivedFile` must show. */
export function incomingCases ({ installed }: ProviderUnderTest, questions: readonly Prepared[]): Case[] {
  const services = Object.entries(installed.manifest.services).filter(([, { verbs }]) => verbs.includes('received'))
  if (services.length === 0) return [skipped('incoming', 'what has come', 'No service has the verb "received".')]
  return services.flatMap(([service]) => {
    const answers = (verb: string): Prepared['result'][] =>
      questions.filter(({ call, result }) => call.verb === verb && call.service === service && result['outcome'] === undefined)
        .map(({ result }) => result)
    const lists = answers('received').map(({ received }) => received).filter((received) => Array.isArray(received))
    const shown = (what: string, isShown: boolean, fixture: string): Case =>
      judged('incoming', `${what} of "${service}"`, isShown ? [] : [`There is none: write fixtures/${fixture}.json.`])
    return [
      shown('what has come', lists.some((received) => received.length > 0), 'received.some'),
      shown('that nothing has come', lists.some((received) => received.length === 0), 'received.none'),
      shown('the file of what has come', answers('receivedFile').length > 0, 'receivedFile.found')
    ]
  })
}
