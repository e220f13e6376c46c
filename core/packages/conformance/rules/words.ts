import { isRecord, type Json } from '@dispatch/common'
import { type Manifest, mapTexts, type ProvidedName, type ReadEvent, readEvent, statusOf } from '@dispatch/core/host'
import { differs } from '../fixtures/compare.ts'
import type { Prepared } from '../fixtures/prepare.ts'
import { type Case, judged } from '../report.ts'
import type { Hook } from './hook.ts'
import { inTurn } from './replay.ts'
import { attempted, type ProviderUnderTest } from './subject.ts'

const unknownWord = 'kit.a-word-that-nobody-knows'

/** Every word of a webhook must stand in an event of a fixture. An unknown one is tried in the place where a fixture has its word. */
export async function eventWordCases ({ subject: { installed }, webhook: { events: words }, service, events }: Hook): Promise<Case[]> {
  const readings = await inTurn(events, async ({ name, body }) => ({ name, body, read: await readEvent(installed, service, body) }))
  const shown = new Set(readings.flatMap(({ read }) => read.ok ? [read.reading.type] : []))
  const declared = Object.keys(words).map((word) =>
    judged('words', `the event "${word}"`,
      shown.has(word) ? [] : ['No fixture shows it: write fixtures/webhook.….json for it, or add it to the "words" of one.'])
  )
  const [base] = readings.flatMap(({ name, body, read }) => {
    const other = read.ok ? changed(body, read.reading.type, unknownWord) : undefined
    return other === undefined ? [] : [{ name, other }]
  })
  if (base === undefined) {
    const bySelf = events.some(({ fixture }) => fixture.expect.status === 'unknown')
    return [
      ...declared,
      judged('unknown', 'an unknown word',
        bySelf ? [] : ['No word stands literally in the body of a fixture: write fixtures/webhook.unknown.json with "status": "unknown".'])
    ]
  }
  const read = await readEvent(installed, service, base.other)
  return [...declared, judged('unknown', `${base.name} with an unknown word`, unknownFaults(read, words))]
}

function unknownFaults (read: ReadEvent, words: Hook['webhook']['events']): string[] {
  return read.ok ? differs('status', 'unknown', statusOf(words, read.reading.type) ?? 'unknown') : [`It is an error: ${read.reason}`]
}

/** The event with one word replaced by another; undefined where the word is not a whole value. */
function changed (body: Buffer, from: string, to: string): Buffer | undefined {
  const parsed = attempted(() => JSON.parse(body.toString()) as Json)
  if (!parsed.ok) return undefined
  const other = Buffer.from(JSON.stringify(mapTexts(parsed.value, (text) => text === from ? to : text)))
  return other.includes(to) ? other : undefined
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
  const told = new Map(questions.map(({ name, fixture: { becomes } }) => [name, becomes]))
  return returned.filter(({ name }) => told.get(name) !== undefined).map(({ name, word = '' }) =>
    judged('words', name, differs(`status of "${word}"`, told.get(name), statusOf(statuses, word) ?? 'unknown'))
  )
}

function shownCases (service: string, statuses: Words, returned: Returned): Case[] {
  const shown = new Set(returned.map(({ word }) => word))
  return Object.keys(statuses).map((word) =>
    judged('words', `the status "${word}" of "${service}"`,
      shown.has(word) ? [] : ['No fixture shows it: write fixtures/status.….json for it, or add it to the "words" of one.'])
  )
}
