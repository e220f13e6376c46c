import { isRecord, type Json, type JsonObject } from '@dispatch/common'
import { checkSettings, destinationNames, type Manifest } from '@dispatch/host'
import { type Case, judged } from '../report.ts'
import { shifted } from '../run/canary.ts'
import { inTurn } from '../run/in-turn.ts'
import { otherKey } from '../run/other-settings.ts'
import { prepareQuestion } from '../run/prepare.ts'
import { patientVendor } from '../run/scripted-vendor.ts'
import { type ProviderUnderTest, ready } from '../run/subject.ts'
import { type Base, kindOf } from '../values/trial.ts'
import { alternativesOf } from './alternatives.ts'
import { askAgain, settingsWith } from './ask.ts'
import { differing, type Facts, factsOf } from './facts.ts'

/** A call in which a setting is varied. */
type Setting = { settings: JsonObject, sandbox: boolean, ask: (name: string, value: Json) => Promise<{ facts: Facts, complete: boolean }> }

/** Two values of each setting must be told apart by the vendor, in one of the fixtures. What the host itself uses is its own matter. */
export async function settingsOf (subject: ProviderUnderTest, bases: readonly Base[]): Promise<Case[]> {
  const { installed: { manifest } } = subject
  const hasVendor = manifest.hosts.length + destinationNames(manifest.settings).length + (manifest.needs ?? []).length > 0
  if (!hasVendor) return []
  // Another fixture with the same fields would say the same.
  const different = new Map(bases.map((base) => [shapeOf(base), base]))
  const calls = [...[...different.values()].flatMap((base) => callsOf(subject, base)), ...questionsOf(subject)]
  const own = Object.entries(manifest.settings.properties).filter(([name]) => !isTheHosts(manifest, name))
  if (calls.length === 0 || own.length === 0) return []
  const faults = await inTurn(own,
    async ([name, schema]) => await faultOf(manifest, calls, { name, schema, known: knownOf(subject, name) }))
  return [judged('varied', 'each setting', faults.flatMap((fault) => fault ?? []))]
}

function shapeOf (base: Base): string {
  const { prepared: { call: { settings } }, service, requested } = base
  return JSON.stringify([kindOf(base),
    ...[settings, requested, requested[service], requested['settings'], requested['data']].map((fields) => Object.keys(fields ?? {}))])
}

/** Whether the host alone uses a setting: to verify events, to connect an account, or to know who may send. */
function isTheHosts ({ webhooks = {}, connect = [], services: offered }: Manifest, name: string): boolean {
  const used = JSON.stringify([webhooks, connect])
  return name === 'allowedSenders' || used.includes(`"${name}"`) || used.includes(`{${name}}`) ||
    offered.esign?.capabilities.usesPhoneNumber === name
}

function knownOf ({ fixtures: { sends, questions, checks, suggests } }: ProviderUnderTest, name: string): Json[] {
  return [...sends, ...questions, ...checks, ...suggests].flatMap(({ fixture: { settings } }) => settings[name] ?? [])
}

function callsOf (subject: ProviderUnderTest, base: Base): Setting[] {
  const { prepared: { call } } = base
  const of = (sandbox: boolean): Setting => ({
    settings: call.settings,
    sandbox,
    // A setting of the request goes before that of the configuration.
    ask: (name, value) => askAgain(subject, withoutOwn(base, name), { settings: settingsWith(base, { [name]: value }), sandbox })
  })
  return subject.installed.manifest.sandbox?.kind === 'flag' && !call.sandbox ? [of(false), of(true)] : [of(call.sandbox)]
}

function withoutOwn (base: Base, name: string): Base {
  const { settings } = base.requested
  const kept = isRecord(settings) ? Object.entries(settings as JsonObject).filter(([own]) => own !== name) : []
  return { ...base, requested: { ...base.requested, settings: Object.fromEntries(kept) } }
}

/** Some settings show in other calls than a dispatch alone. */
function questionsOf (subject: ProviderUnderTest): Setting[] {
  const { installed, fixtures, play } = subject
  return ready(fixtures.questions, (named) => prepareQuestion(installed, named)).map((prepared) => ({
    settings: prepared.call.settings,
    sandbox: prepared.call.sandbox,
    async ask (name, value) {
      const settings = { ...prepared.call.settings, [name]: value }
      const run = await play({ ...prepared, call: { ...prepared.call, settings } }, {}, patientVendor)
      return { facts: factsOf(run), complete: run.result.outcome === 'answered' }
    }
  }))
}

type Named = { name: string, schema: Field, known: readonly Json[] }
type Field = NonNullable<Manifest['settings']['properties'][string]>

async function faultOf (
  { settings: form }: Manifest,
  calls: readonly Setting[],
  { name, schema, known }: Named
): Promise<string | undefined> {
  let silent: string | undefined
  let tried = false
  for (const { settings, ask } of calls) {
    const isValid = (value: Json): boolean =>
      checkSettings(form, { ...settings, [name]: value }).length <= checkSettings(form, settings).length
    const values = variantsOf(schema, { name, own: settings[name], known }).filter(isValid)
    if (values.length < 2) continue
    const answers = await inTurn(values, async (value) => ({ value, ...await ask(name, value) }))
    const pairs = answers.flatMap((one, index) =>
      answers.slice(index + 1).map((other) => ({ one, other, isSame: differing(one.facts, other.facts).length === 0 }))
    )
    const same = pairs.find(({ isSame, one, other }) => isSame && one.complete && other.complete)
    if (same === undefined && pairs.some(({ isSame }) => !isSame)) return undefined
    tried ||= same !== undefined
    const { one, other } = same ?? {}
    const isSecret = schema['x-secret'] === true
    if (one !== undefined && other !== undefined) {
      silent ??=
        `The setting "${name}": ${isSecret ? 'two values' : `${JSON.stringify(one.value)} and ${JSON.stringify(other.value)}`} reach the ` +
        'vendor as the same in every fixture. Use it, show it in a fixture that needs it, or take it out.'
    }
  }
  if (silent !== undefined || tried) return silent
  return `The setting "${name}" could not be tried: show it in a fixture, or give its field "examples".`
}

/** Values of a setting; of a list of objects, the list with another text or number in its first item. */
function variantsOf (schema: unknown, about: { name: string, own: Json | undefined, known: readonly Json[] }): Json[] {
  const list = about.own ?? about.known[0]
  if (typeof list === 'string' && list.includes('PRIVATE KEY-----')) return [list, otherKey(list)]
  if (!Array.isArray(list)) return alternativesOf(schema, about)
  const [first, ...others] = list as readonly Json[]
  if (!isRecord(first)) return [list, [...list as Json[], 'zq1qz']]
  const other = Object.fromEntries(
    Object.entries(first as JsonObject).map(([key, value]) => [key, typeof value === 'string' ? shifted(value, 1) : value])
  )
  return [list, [other, ...others]]
}
