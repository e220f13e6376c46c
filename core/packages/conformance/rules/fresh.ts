import type { Json, JsonObject } from '@dispatch/common'
import { checkSettings, type SettingsSchema } from '@dispatch/host'
import { alternativesOf } from '../interrogation/alternatives.ts'
import { askAgain } from '../interrogation/ask.ts'
import { differing } from '../interrogation/facts.ts'
import { type Case, judged } from '../report.ts'
import { inTurn } from '../run/in-turn.ts'
import { otherSettings } from '../run/other-settings.ts'
import type { Prepared } from '../run/prepare.ts'
import type { ProviderUnderTest } from '../run/subject.ts'
import { type Base, baseOf, kindOf } from '../values/trial.ts'

const otherSeed = 5

/**
 * A dispatch with other settings is made by the module that has made all others, and by one that was loaded anew: both must ask the vendor
 * the same. What a module keeps of an earlier call is another company's.
 */
export async function freshCases (subject: ProviderUnderTest, fit: readonly Prepared[]): Promise<Case[]> {
  const bases = fit.flatMap((prepared) => baseOf(subject, prepared) ?? [])
  if (bases.length === 0) return []
  return await inTurn([...Map.groupBy(bases, kindOf).values()].flatMap(([first]) => first ?? []), async (base) => {
    const settings = await takenOf(await subject.anew(), base)
    const fresh = await askAgain(await subject.anew(), base, { settings })
    // What is another each time; what the first call has left to the second one is none of that.
    const again = await askAgain(await subject.anew(), base, { settings })
    const noise = new Set(differing(fresh.facts, again.facts))
    // The module that is in use has served the fixture's own settings before.
    await askAgain(subject, base)
    const used = await askAgain(subject, base, { settings })
    const kept = differing(fresh.facts, used.facts).filter((place) => !noise.has(place))
    return judged('fresh', `${base.prepared.name}: with other settings, after another company`,
      kept.map((place) =>
        `${place} is ${JSON.stringify(used.facts.get(place) ?? 'missing')}, and ${
          JSON.stringify(fresh.facts.get(place) ?? 'missing')
        } where the ` +
        'module is loaded anew: keep nothing of a call in a variable of a module.'
      ))
  })
}

/** Settings of which all are others, or where the provider refuses them before it has asked for everything, as many as it takes. */
async function takenOf (subject: ProviderUnderTest, base: Base): Promise<JsonObject> {
  const takes = async (settings: JsonObject): Promise<boolean> => (await askAgain(subject, base, { settings })).complete
  const { settings: form } = subject.installed.manifest
  const { settings: own } = base.prepared.call
  const all = otherOf(form, own)
  if (await takes(all)) return all
  let taken = own
  for (const [name, other] of Object.entries(all)) {
    const tried = { ...taken, [name]: other }
    if (other !== taken[name] && isValid(form, tried, own) && await takes(tried)) taken = tried
  }
  return taken
}

/** Settings of which all are others, choices, switches and hosts too: the vendor in this process has every name. */
function otherOf (form: SettingsSchema, settings: JsonObject): JsonObject {
  return Object.entries(form.properties).reduce<JsonObject>((changed, [name, schema]) => {
    const [other] = alternativesOf(schema, { name, own: settings[name] }).filter((value) => value !== settings[name])
    if (other === undefined || typeof changed[name] === 'string' && changed[name] !== settings[name]) return changed
    const tried = { ...changed, [name]: other }
    return (isChoice(schema, other) || schema['x-destination'] === true) && isValid(form, tried, settings) ? tried : changed
  }, otherSettings(form, settings, otherSeed))
}

function isValid (form: SettingsSchema, settings: JsonObject, own: JsonObject): boolean {
  return checkSettings(form, settings).length <= checkSettings(form, own).length
}

function isChoice (schema: object, value: Json): boolean {
  return typeof value !== 'string' || 'anyOf' in schema || 'enum' in schema
}
