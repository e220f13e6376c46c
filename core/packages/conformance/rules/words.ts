import { isRecord } from '@dispatch/common'
import { contentIn, type Manifest, parseBody, type ReadEvent, readEvent, statusOf, type WebhookManifest } from '@dispatch/host'
import type { ProvidedName } from '@dispatch/services'
import { mapTexts } from '@dispatch/vendor-io'
import { type Case, judged } from '../report.ts'
import { differs } from '../run/compare.ts'
import { inTurn } from '../run/in-turn.ts'
import type { Prepared } from '../run/prepare.ts'
import type { ProviderUnderTest } from '../run/subject.ts'
import type { Hook } from './hook.ts'

const unknownWord = 'kit.a-word-that-nobody-knows'

/** Every word of a webhook must stand in an event of a fixture. An unknown one is tried in the place where a fixture has its word. */
export async function eventWordCases ({ subject: { installed }, webhook, service, events: own }: Hook): Promise<Case[]> {
  const { events, replies = {} } = webhook
  const words = { ...events, ...replies }
  const readings = await inTurn(own, async ({ name, body }) => {
    const read = await readEvent(installed, service, body)
    return { name, read, other: read.ok ? await changed(webhook, body, read.reading.type, unknownWord) : undefined }
  })
  const shown = new Set(readings.flatMap(({ read }) => read.ok ? [read.reading, ...read.others ?? []].map(({ type }) => type) : []))
  const declared = Object.keys(words).map((word) =>
    judged('words', `the event "${word}"`,
      shown.has(word) ? [] : ['No fixture shows it: write fixtures/webhook.….json for it, or add it to the "words" of one.'])
  )
  const [base] = readings.flatMap(({ name, other }) => other === undefined ? [] : [{ name, other }])
  if (base === undefined) {
    const bySelf = own.some(({ fixture }) => fixture.expect.status === 'unknown')
    return [
      ...declared,
      judged('unknown', 'an unknown word',
        bySelf ? [] : ['No word stands literally in the body of a fixture: write fixtures/webhook.unknown.json with "status": "unknown".'])
    ]
  }
  const read = await readEvent(installed, service, base.other)
  return [...declared, judged('unknown', `${base.name} with an unknown word`, unknownFaults(read, events))]
}

function unknownFaults (read: ReadEvent, words: Hook['webhook']['events']): string[] {
  return read.ok ? differs('status', 'unknown', statusOf(words, read.reading.type) ?? 'unknown') : [`It is an error: ${read.reason}`]
}

/** The event with one word replaced by another; undefined where the word is not a whole value. */
async function changed (webhook: WebhookManifest, body: Buffer, from: string, to: string): Promise<Buffer | undefined> {
  const parsed = await parseBody(webhook, body)
  if (!parsed.ok) return undefined
  const other = mapTexts(parsed.value, (text) => text === from ? to : text)
  return JSON.stringify(other).includes(to) ? contentIn(webhook, other) : undefined
}

/** Every word of `statuses` must be returned in a fixture of `status` or `cancel`, and become the status that the fixture tells. */
export async function statusWordCases (subject: ProviderUnderTest, questions: readonly Prepared[]): Promise<Case[]> {
  const { services } = subject.installed.manifest
  const cases = await inTurn(Object.entries(services), async ([service, { statuses = {} }]) => {
    const own = questions.filter(({ call }) => call.service === service && (call.verb === 'status' || call.verb === 'cancel'))
    const returned = await inTurn(own, async (prepared) => ({ name: prepared.name, word: await wordOf(subject, prepared) }))
    return returned.length === 0 ? [] : [...mappedCases(subject, statuses, returned), ...shownCases(service, statuses, returned)]
  })
  return cases.flat()
}

type Words = NonNullable<NonNullable<Manifest['services'][ProvidedName]>['statuses']>
type Returned = readonly { name: string, word: string | undefined }[]

async function wordOf ({ play }: ProviderUnderTest, prepared: Prepared): Promise<string | undefined> {
  const { result } = await play(prepared)
  const value = result.outcome === 'answered' ? result.value : undefined
  return isRecord(value) && typeof value['status'] === 'string' ? value['status'] : undefined
}

/** The words of fixtures that tell a delivery status. */
function mappedCases ({ fixtures: { questions } }: ProviderUnderTest, statuses: Words, returned: Returned): Case[] {
  const reported = new Map(questions.map(({ name, fixture: { becomes } }) => [name, becomes]))
  return returned.filter(({ name }) => reported.get(name) !== undefined).map(({ name, word = '' }) =>
    judged('words', name, differs(`status of "${word}"`, reported.get(name), statusOf(statuses, word) ?? 'unknown'))
  )
}

function shownCases (service: string, statuses: Words, returned: Returned): Case[] {
  const shown = new Set(returned.map(({ word }) => word))
  return Object.keys(statuses).map((word) =>
    judged('words', `the status "${word}" of "${service}"`,
      shown.has(word) ? [] : ['No fixture shows it: write fixtures/status.….json for it, or add it to the "words" of one.'])
  )
}
