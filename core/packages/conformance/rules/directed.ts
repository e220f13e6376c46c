import { type Case, judged, skipped } from '../report.ts'
import type { Prepared } from '../run/prepare.ts'
import type { ProviderUnderTest } from '../run/subject.ts'

/** What the fixtures of each service with the verb `recipients` must show. */
export function directedCases ({ installed }: ProviderUnderTest, questions: readonly Prepared[]): Case[] {
  const services = Object.entries(installed.manifest.services).filter(([, { verbs }]) => verbs.includes('recipients'))
  if (services.length === 0) return [skipped('directed', 'whom a directory knows', 'No service has the verb "recipients".')]
  return services.flatMap(([service]) => {
    const reported = questions.filter(({ call }) => call.verb === 'recipients' && call.service === service)
      .map(({ result: { recipients } }) => recipients)
    const shows = (some: boolean): boolean => reported.some((recipients) => Array.isArray(recipients) && recipients.length > 0 === some)
    return [
      judged('directed', `whom the directory of "${service}" knows`,
        shows(true) ? [] : ['There is none: write fixtures/recipients.found.json.']),
      judged('directed', `whom the directory of "${service}" does not know`,
        shows(false) ? [] : ['There is none: write fixtures/recipients.absent.json.'])
    ]
  })
}
