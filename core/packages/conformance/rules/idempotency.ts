import type { DispatchFixture, Exchange } from '../fixtures/fixture.ts'
import type { Named } from '../fixtures/fixtures.ts'
import { type Case, judged, skipped } from '../report.ts'
import { isSignIn, isUnsafe } from '../run/fault-injection.ts'
import { inTurn } from '../run/in-turn.ts'
import { memoryState } from '../run/memory.ts'
import { type Attempt, idempotencyKeys, type Prepared, prepareSend, references } from '../run/prepare.ts'
import type { CallRun } from '../run/run.ts'
import { patientVendor } from '../run/scripted-vendor.ts'
import type { ProviderUnderTest } from '../run/subject.ts'
import type { ReceivedRequest } from '../vendor/requests.ts'

/**
 * Checks, on the first accepted fixture of each service, that the provider prevents a second dispatch in the way that its manifest
 * declares.
 */
export async function idempotencyCases (subject: ProviderUnderTest, fit: readonly Prepared[]): Promise<Case[]> {
  const { installed: { manifest }, fixtures: { sends } } = subject
  const cases = await inTurn(Object.entries(manifest.services), async ([service, { idempotency: { kind } }]) => {
    const first = fit.find(({ call, result }) =>
      call.service === service && call.checkpointed === undefined && result['outcome'] === 'accepted'
    )
    const named = sends.find(({ name }) => name === first?.name)
    if (first === undefined || named === undefined) return [skipped('key', service, 'No accepted fixture could be replayed.')]
    if (kind === 'key') return [await keyCase(subject, named)]
    return [
      skipped('key', service, `The service declares { kind: '${kind}' }.`),
      ...kind === 'lookup' ? [await lookupCase(subject, named, first)] : []
    ]
  })
  return [...cases.flat(), ...await sharedKeyCases(subject, fit)]
}

/** Requests of one dispatch that change different things share no key: the vendor would answer the second one as it has the first. */
async function sharedKeyCases (subject: ProviderUnderTest, fit: readonly Prepared[]): Promise<Case[]> {
  const several = fit.filter(({ call, result }) =>
    call.verb === 'dispatch' && result['outcome'] === 'accepted' && call.exchange.filter((entry) => isUnsafe(entry)).length > 1
  )
  return await inTurn(several, async (prepared) => {
    const { requests } = await subject.play(prepared, {}, patientVendor)
    const keys = requests.flatMap((sent, index) =>
      changesSomething(sent, prepared.call.exchange) ? keysOf(sent.request, prepared.call).map((key) => ({ index, key })) : []
    )
    const twice = keys.filter(({ key }, index) => keys.findIndex((other) => other.key === key) < index)
    return judged('key', `${prepared.name}: a key for each request`, twice.map(({ index, key }) => {
      const first = keys.find((other) => other.key === key)?.index ?? 0
      return `Requests ${first + 1} and ${
        index + 1
      } are sent with the same key (${key}), and ask for different things: give each step a key of its ` +
        'own, such as context.idempotencyKey with the name of the step.'
    }))
  })
}

/** What a request is known by at the vendor: the headers and the fields of the query that have our key, or are named so. */
function keysOf ({ headers, search }: ReceivedRequest, { idempotencyKey }: Prepared['call']): string[] {
  const named = [...Object.entries(headers), ...search]
  return named.filter(([name, text]) => /idempot/i.test(name) || text.includes(idempotencyKey)).map(([name, text]) => `${name}: ${text}`)
}

/** The vendor must see the same request under the same key, and another key for another attempt. */
async function keyCase (subject: ProviderUnderTest, named: Named<DispatchFixture>): Promise<Case> {
  const { exchange = [] } = named.fixture
  const attempt = async (more: Attempt): Promise<string[]> => {
    const { requests } = await subject.play(prepareSend(subject.installed, named, more))
    return requests.filter((sent) => changesSomething(sent, exchange)).map(({ request }) => textOf(request))
  }
  const [once, again, other] = [await attempt({}), await attempt({}), await attempt({ idempotencyKey: idempotencyKeys[1] })]
  const changed = once.flatMap((request, index) =>
    request === again[index]
      ? []
      : [`Request ${index + 1} of those that change something is another when it is sent again under the same key.`]
  )
  const keyless = once.flatMap((request, index) =>
    request === other[index] ? [`Request ${index + 1} of those that change something has no key: send context.idempotencyKey with it.`] : []
  )
  return judged('key', `${named.name}: sent again with the same key, and with another`, [...changed, ...keyless])
}

/** All requests of a run as texts for comparison. */
export function sentTexts ({ requests }: CallRun): string[] {
  return requests.map(({ request }) => textOf(request))
}

/** Whether a request changes something at the vendor; one that no fixture expects does. */
function changesSomething ({ request, index }: CallRun['requests'][number], exchange: Exchange): boolean {
  const entry = index === undefined ? undefined : exchange[index]
  return request.method !== 'GET' && (entry === undefined || !isSignIn(entry))
}

/** Leaves out what the transport makes anew each time. */
function textOf ({ method, path, search, headers: { 'content-type': type = '', ...headers }, body }: ReceivedRequest): string {
  const boundary = /boundary="?([^";]+)/.exec(type)?.[1]
  const text = `${JSON.stringify([method, path, search, headers, type])}\n${body.toString('latin1')}`
  return boundary === undefined ? text : text.replaceAll(boundary, '')
}

/** Our reference is sent to the vendor or stored in the state, and the look-up asks for it. */
async function lookupCase (subject: ProviderUnderTest, named: Named<DispatchFixture>, first: Prepared): Promise<Case> {
  const name = `${named.name}: looked up by its reference`
  const unsafe = first.call.exchange.filter((entry) => isUnsafe(entry) && !isSignIn(entry))
  if (unsafe.length === 0) return await rememberedCase(subject, named, name)
  const sent = async (reference: string): Promise<string> =>
    (await subject.play(prepareSend(subject.installed, named, { reference }))).requests.map(({ request }) => textOf(request)).join('\n')
  const [one, other] = [await sent(references[0]), await sent(references[1])]
  const lookups = subject.fixtures.questions.filter(({ fixture: { verb, service } }) => verb === 'lookup' && service === first.call.service)
    .map(({ fixture }) => fixture.result['found'])
  return judged('found', name, [
    ...one === other ? ['The vendor is not told our reference: send context.reference with the dispatch.'] : [],
    ...['accepted', 'absent'].filter((found) => !lookups.includes(found)).map((found) =>
      `There is no fixture of a look-up that finds "${found}": write fixtures/lookup.${found}.json.`
    )
  ])
}

/** A provider without a vendor uses its own state. */
async function rememberedCase (subject: ProviderUnderTest, named: Named<DispatchFixture>, name: string): Promise<Case> {
  const state = memoryState()
  const dispatched = prepareSend(subject.installed, named)
  const { result } = await subject.play(dispatched, { state })
  const ask = async (reference: string): Promise<unknown> => {
    const answer = await subject.play({
      ...dispatched,
      call: { ...dispatched.call, exchange: [], verb: 'lookup', reference, query: { reference } }
    }, { state })
    return answer.result.outcome === 'answered' ? answer.result.value : answer.result
  }
  const [known, unknown] = [await ask(references[0]), await ask(references[1])]
  const found = (answer: unknown): unknown => typeof answer === 'object' && answer !== null && 'found' in answer ? answer.found : undefined
  return judged('found', name, [
    ...result.outcome === 'accepted' && found(known) === 'accepted' ? [] : [`What was accepted is not found: ${JSON.stringify(known)}.`],
    ...found(unknown) === 'absent' ? [] : [`What was never sent is not absent: ${JSON.stringify(unknown)}.`]
  ])
}
