import { isRecord, type JsonObject } from '@dispatch/common'
import { providedNames } from '@dispatch/services'
import { isDeepStrictEqual } from 'node:util'
import { type Case, judged, skipped } from '../report.ts'
import { compareMail } from '../run/compare-mail.ts'
import { compareRequest, differs } from '../run/compare.ts'
import { injectedFaults } from '../run/fault-injection.ts'
import { inTurn } from '../run/in-turn.ts'
import { type Prepared, prepareQuestion, prepareSend } from '../run/prepare.ts'
import { type CallRun, traceOf } from '../run/run.ts'
import { attempted, type ProviderUnderTest } from '../run/subject.ts'

/** The kinds of a provider's fixtures, before they run. */
export function fixtureCases ({ installed, fixtures }: ProviderUnderTest): Case[] {
  const unfit = [
    ...fixtures.sends.map((named) => ({ name: named.name, prepared: attempted(() => prepareSend(installed, named)) })),
    ...fixtures.questions.map((named) => ({ name: named.name, prepared: attempted(() => prepareQuestion(installed, named)) }))
  ]
  const offered = providedNames.filter((service) => installed.manifest.services[service] !== undefined)
  const requested = offered.filter((service) =>
    !fixtures.sends.some(({ fixture }) => fixture.service === service && fixture.result.outcome === 'accepted')
  )
  return [
    ...fixtures.faults.map(({ name, why }) => judged('fixtures', name, [why])),
    ...unfit.map(({ name, prepared }) => judged('fixtures', name, prepared.ok ? [] : [prepared.why])),
    ...offered.map((service) =>
      judged('fixtures', `an accepted dispatch of "${service}"`,
        requested.includes(service) ? [`There is none: write fixtures/send.${service}.json.`] : [])
    )
  ]
}

/** Runs every dispatch. `fit` are the fixtures that ran as expected, with their runs. */
export async function replayCases (
  subject: ProviderUnderTest,
  sends: readonly Prepared[]
): Promise<{ cases: Case[], fit: { prepared: Prepared, run: CallRun }[] }> {
  const played = await inTurn(sends, async (prepared) => {
    const run = await subject.play(prepared)
    return { prepared, run, faults: compareRun(prepared, run) }
  })
  const cases = played.map(({ prepared: { name }, faults }) => judged('replay', name, faults))
  return { cases: [...cases, ...sandboxCases(subject)], fit: played.filter(({ faults }) => faults.length === 0) }
}

function sandboxCases ({ fixtures: { sends }, installed: { manifest } }: ProviderUnderTest): Case[] {
  const shown = sends.some(({ fixture }) => fixture.sandbox === true)
  if (!shown && manifest.sandbox?.kind === 'flag') {
    return [
      judged('sandbox', 'a fixture shows the sandbox', [
        'The provider declares a sandbox for the flag "sandbox", and no fixture says "sandbox": true.'
      ])
    ]
  }
  return shown
    ? [judged('sandbox', 'a fixture shows the sandbox', [])]
    : [
      skipped('sandbox', 'a fixture shows the sandbox',
        'No fixture says "sandbox": true. Where the vendor knows a sandbox only by its credentials, there is none to write.')
    ]
}

/** Runs every query to the vendor. */
export async function questionCases (subject: ProviderUnderTest, questions: readonly Prepared[]): Promise<Case[]> {
  const { installed: { manifest, code } } = subject
  const played = await inTurn(questions,
    async (prepared) => judged('question', prepared.name, compareRun(prepared, await subject.play(prepared))))
  const needed = Object.entries(manifest.services).flatMap(([service, { verbs }]) =>
    verbs.filter((verb) => verb === 'status').map((verb) => ({ service, verb }))
  )
  const missing = needed.filter(({ service, verb }) => !questions.some(({ call }) => call.service === service && call.verb === verb))
  return [
    ...played,
    ...missing.map(({ service, verb }) =>
      judged('question', `the verb "${verb}" of "${service}"`, [`"${code}" has no fixture of it: write fixtures/${verb}.….json.`])
    )
  ]
}

/** Attacks every request of every look-up, also in a directory and of what has come. */
export async function blindCases (subject: ProviderUnderTest, questions: readonly Prepared[]): Promise<Case[]> {
  const lookups = questions.filter(({ call: { verb, exchange } }) =>
    ['lookup', 'recipients', 'received'].includes(verb) && exchange.length > 0
  )
  if (lookups.length === 0) return [skipped('blind', 'a look-up that fails', 'No fixture of a look-up asks the vendor.')]
  const trials = lookups.flatMap((prepared) =>
    prepared.call.exchange.flatMap((_, at) => injectedFaults.map((how) => ({ prepared, attack: { at, how } })))
  )
  return await inTurn(trials, async ({ prepared, attack }) => {
    const { result } = await subject.play(prepared, { attack })
    // A look-up may get the answer that the dispatch does not exist.
    const reported = result.outcome === 'answered' && attack.how.status !== 404
    return judged('blind', `${prepared.name}: request ${attack.at + 1} ${attack.how.name}`,
      reported ? [`It answers ${JSON.stringify(result.value)}.`] : [])
  })
}

/** The differences between a run and its fixture. */
export function compareRun ({ call: { exchange, mail }, filling, result }: Prepared, run: CallRun): string[] {
  const numbered = (index: number, differences: readonly string[]): string[] =>
    differences.map((difference) => `Request ${index + 1}: ${difference}`)
  const sent = run.requests.flatMap(({ request }, index) => {
    const expected = exchange[index]?.expect
    return numbered(index, expected === undefined
      ? [`${request.method} https://${request.host}${request.path} is one more than expected.`]
      : compareRequest(expected, request, filling))
  })
  const left = exchange.slice(run.requests.length).map(({ expect: { method, url } }) => `${method} ${url} was not sent.`)
  return [...sent, ...left, ...mail === undefined ? [] : compareMail(mail.expect, run.mails, filling), ...compareResult(result, run)]
}

function compareResult ({ checkpoint, ...expected }: JsonObject, { result, saved, seen }: CallRun): string[] {
  const points = differs('checkpoint', checkpoint, saved.at(-1)?.id)
  if (result.outcome === 'answered') return [...differs('answer', expected, result.value), ...points]
  if (result.outcome === 'accepted') {
    return [
      ...differs('outcome', expected['outcome'], 'accepted'),
      ...expected['outcome'] === 'accepted' ? differs('response', expected['response'], result.response) : [],
      ...points
    ]
  }
  const { word, code, message } = result.error
  const desired = isRecord(expected['error']) ? expected['error'] : {}
  const reported = { word, ...(code !== undefined && { code }), message }
  const shown = isDeepStrictEqual(expected['outcome'], result.outcome) ?
    [] :
    [`The outcome is ${JSON.stringify(result.outcome)} (${word}: ${message}); expected ` +
      `${JSON.stringify(expected['outcome'] ?? 'an answer')}.${traceOf(seen)}`]
  return [
    ...shown,
    ...shown.length > 0
      ? []
      : Object.entries(desired).flatMap(([field, value]) => differs(`error's ${field}`, value, (reported as JsonObject)[field])),
    ...points
  ]
}
