import type { Json, JsonObject } from '@dispatch/common'
import { checkSettings, folderDigest, type InstalledProvider, loadProvider, type VerbName } from '@dispatch/host'
import type { ProvidedName } from '@dispatch/services'
import { mapTexts, type Network } from '@dispatch/vendor-io'
import { hash, randomUUID } from 'node:crypto'
import { mkdir, realpath, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fitQuestion, fitSend } from '../fixtures/fixture.ts'
import { fitting } from '../fixtures/fixtures.ts'
import { compareRun } from '../rules/replay.ts'
import { type Prepared, prepareQuestion, prepareSend } from '../run/prepare.ts'
import { type CallRun, type FixtureCall, run, traceOf } from '../run/run.ts'
import { createVendorDouble } from '../run/vendor-double.ts'
import { materialOf } from '../vendor/request.ts'
import { connectAccount, type Connected, type Connecting } from './connect.ts'
import { exchangeOf } from './expected.ts'
import { connectionMasks, masked, type Masks, remains, settingMasks, tokenMasks } from './mask.ts'
import { createRecorder, type RecordedExchange } from './recorder.ts'

/** What a fixture has before it is recorded: the client's side. `content` are the bytes of its documents for the vendor. */
export type RecordedCall = {
  folder: string
  verb: VerbName
  service: ProvidedName
  settings: JsonObject
  request?: JsonObject
  query?: JsonObject
  requestSettings?: JsonObject
  sandbox?: boolean
  checkpointed?: string
  content?: Buffer
}

/**
 * `name`: the fixture is `fixtures/send.<name>.json`, or begins with its verb. `existing`: what is done when that file exists.
 * `connecting`: how an account is connected, where the provider asks for that.
 */
export type RecordOptions = { name: string, existing: 'refuse' | 'replace', network: Network, connecting: Omit<Connecting, 'network'> }

/**
 * Calls a verb of a provider with the real vendor, and writes what was said as a fixture, with its secrets masked. Nothing is written when
 * the vendor could not be reached, when a secret would remain, or when the fixture would not run as it was recorded. Resolves to the path.
 */
export async function recordFixture (requested: RecordedCall, { name, existing, network, connecting }: RecordOptions): Promise<string> {
  const folder = await realpath(requested.folder)
  const file = join(folder, 'fixtures', `${requested.verb === 'dispatch' ? 'send' : requested.verb}.${name}.json`)
  if (!/^[\w-]+$/.test(name)) throw new Error(`"${name}" is no name of a fixture: letters, digits and dashes.`)
  if (existing === 'refuse' && await stat(file).catch(() => undefined) !== undefined) {
    throw new Error(`${file} is there already: choose another name, or replace it with --force.`)
  }
  const installed = await loadProvider(folder, await folderDigest(folder), loadLimit)
  checkCall(installed, requested)
  const { manifest } = installed
  const account = { settings: requested.settings, sandbox: requested.sandbox ?? false }
  const connected = await connectAccount(installed, account, { ...connecting, network })
  const { call, made, recorded } = await playReal(installed, requested, network, connected)
  const masks = [
    ...connected === undefined ? [] : connectionMasks(manifest, requested.settings, connected),
    ...settingMasks(manifest.settings, requested.settings),
    ...tokenMasks(recorded, made.seen.credentials)
  ]
  const fixture = await withResult(installed, requested, fixtureOf(requested, { call, recorded, masks }), made)
  const text = `${JSON.stringify(fixture, null, 2)}\n`
  const left = masks.filter(({ was }) => remains(text, was))
  if (left.length > 0) throw new Error('A secret would remain in the fixture, in a form that is not known here: nothing was written.')
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
  return file
}

/** Seconds. */
const loadLimit = 10
/** The time limit in milliseconds for the whole call. */
const limits = { limit: 120_000, endLimit: 2_000 }

function checkCall ({ manifest, verbs }: InstalledProvider, { service, verb, settings, requestSettings = {} }: RecordedCall): void {
  if (verbs[service]?.[verb] === undefined) throw new Error(`The provider has no verb "${verb}" for "${service}".`)
  const problems = [
    ...checkSettings(manifest.settings, settings, { base: '/settings' }),
    ...checkSettings(manifest.requestSettings, requestSettings, { base: '/requestSettings', service })
  ]
  if (problems.length > 0) throw new Error(problems.map(({ path, message }) => `${path} ${message}`).join('\n'))
}

type Live = { call: FixtureCall, made: CallRun, recorded: readonly RecordedExchange[] }

async function playReal (
  installed: InstalledProvider,
  requested: RecordedCall,
  network: Network,
  connected: Connected | undefined
): Promise<Live> {
  const { service, settings, requestSettings = {}, sandbox = false, checkpointed, query = {}, verb } = requested
  const [reference, idempotencyKey] = [randomUUID(), randomUUID()]
  const { request, documents } = verb === 'dispatch'
    ? materialOf(service, requested.request ?? {}, {
      capabilities: installed.manifest.services[service]?.capabilities,
      content: requested.content
    })
    : { request: {}, documents: new Map<string, Buffer>() }
  const shared = {
    service,
    settings,
    requestSettings,
    sandbox,
    ...(connected !== undefined && { facts: connected.facts, token: connected.token }),
    reference,
    idempotencyKey,
    documents,
    exchange: [],
    now: () => new Date(),
    ...(checkpointed !== undefined && { checkpointed })
  }
  const call: FixtureCall = verb === 'dispatch'
    ? { ...shared, verb, request }
    : { ...shared, verb, query: verb === 'lookup' ? { reference, ...query } : query }
  const recorder = await createRecorder(network)
  try {
    const made = await run(installed, recorder, call, limits)
    const faults = [...recorder.failures, ...made.seen.refused]
    if (faults.length > 0) throw new Error(`The vendor was not asked: ${faults.join(' ')}`)
    if (made.seen.trace !== undefined) throw new Error(`The provider failed.${traceOf(made.seen)}`)
    return { call, made, recorded: recorder.recorded }
  } finally {
    await recorder.close()
  }
}

type Unfinished = JsonObject & { exchange: Json }

function fixtureOf (
  { service, verb, settings, request = {}, query, requestSettings, sandbox, checkpointed }: RecordedCall,
  { call, recorded, masks }: Pick<Live, 'call' | 'recorded'> & { masks: Masks }
): Unfinished {
  const known = { documents: call.documents, isSecret: (text: string) => masks.some(({ was }) => text.includes(was)) }
  const exchange = recorded.map((one) => exchangeOf(one, known)) as unknown as Json
  const document = call.documents.get('/document')
  const values: [string, string][] = [
    [call.reference, '{{reference}}'],
    [call.idempotencyKey, '{{idempotencyKey}}'],
    ...[...call.documents].map(([at, bytes]): [string, string] => [bytes.toString('base64'), `{{base64${at}}}`]),
    ...document === undefined ? [] : [[hash('sha256', document), '{{request/document/sha256}}'] satisfies [string, string]]
  ]
  const placed = mapTexts(exchange, (text) => values.reduce((changed, [was, is]) => changed.replaceAll(was, is), text))
  return masked({
    service,
    settings,
    ...(call.facts !== undefined && Object.keys(call.facts).length > 0 && { facts: call.facts }),
    ...(requestSettings !== undefined && { requestSettings }),
    ...(sandbox !== undefined && { sandbox }),
    ...(checkpointed !== undefined && { checkpointed }),
    ...(verb === 'dispatch' && { request }),
    ...(query !== undefined && { query }),
    exchange: placed
  }, masks)
}

/** The fixture with the result that it has when it is played. Throws when it does not run as it was recorded. */
async function withResult (installed: InstalledProvider, { verb }: RecordedCall, fixture: Unfinished, live: CallRun): Promise<JsonObject> {
  const prepared = preparedOf(installed, verb, { ...fixture, result: { outcome: 'accepted', response: {} } })
  const stage = await createVendorDouble()
  try {
    const played = await run(installed, stage, prepared.call, limits)
    const result = resultOf(played, prepared)
    const differences = compareRun({ ...prepared, result: filledResult(result, prepared) }, played)
    const outcome = played.result.outcome === live.result.outcome ? [] : [`It is ${played.result.outcome}, and was ${live.result.outcome}.`]
    if (differences.length + outcome.length > 0) {
      throw new Error(
        `The recorded fixture does not run as it was recorded; nothing was written:\n${[...outcome, ...differences].join('\n')}`
      )
    }
    return { ...fixture, result }
  } finally {
    await stage.close()
  }
}

function preparedOf (installed: InstalledProvider, verb: VerbName, fixture: JsonObject): Prepared {
  const name = 'the recorded fixture'
  return verb === 'dispatch'
    ? prepareSend(installed, { name, fixture: fitting(fitSend(fixture)) })
    : prepareQuestion(installed, { name, fixture: { ...fitting(fitQuestion(fixture)), verb } })
}

/** What became of the call, with our reference as its placeholder. */
function resultOf ({ result, saved }: CallRun, { call: { reference, idempotencyKey } }: Prepared): JsonObject {
  const checkpoint = saved.at(-1)?.id
  const outcome = result.outcome === 'answered'
    ? result.value as JsonObject
    : result.outcome === 'accepted'
    ? { outcome: result.outcome, response: result.response }
    : { outcome: result.outcome, error: errorOf(result.error) }
  return mapTexts<JsonObject>({ ...outcome, ...(checkpoint !== undefined && { checkpoint }) },
    (text) => text.replaceAll(reference, '{{reference}}').replaceAll(idempotencyKey, '{{idempotencyKey}}'))
}

function errorOf ({ word, code, message }: { word: string, code?: string, message: string }): JsonObject {
  return { word, ...(code !== undefined && { code }), message }
}

function filledResult (result: JsonObject, { call: { reference, idempotencyKey } }: Prepared): JsonObject {
  return mapTexts(result, (text) => text.replaceAll('{{reference}}', reference).replaceAll('{{idempotencyKey}}', idempotencyKey))
}
