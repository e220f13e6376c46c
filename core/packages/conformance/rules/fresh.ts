import type { Json, JsonObject } from '@dispatch/common'
import { checkSettings } from '@dispatch/host'
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
  const anew = await subject.anew()
  return await inTurn([...Map.groupBy(bases, kindOf).values()].flatMap(([first]) => first ?? []), async (base) => {
    const settings = otherOf(subject, base)
    const fresh = await askAgain(anew, base, { settings })
    const again = await askAgain(anew, base, { settings })
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

/** Settings all of which are others, choices and switches too. */
function otherOf ({ installed: { manifest } }: ProviderUnderTest, { prepared: { call: { settings } } }: Base): JsonObject {
  const { settings: form } = manifest
  return Object.entries(form.properties).reduce<JsonObject>((changed, [name, schema]) => {
    const [other] = alternativesOf(schema, { name, own: settings[name] }).filter((value) => value !== settings[name])
    if (other === undefined || typeof changed[name] === 'string' && changed[name] !== settings[name] || schema['x-destination'] === true) {
      return changed
    }
    const tried = { ...changed, [name]: other }
    return isChoice(schema, other) && checkSettings(form, tried).length <= checkSettings(form, settings).length ? tried : changed
  }, otherSettings(form, settings, otherSeed))
}

function isChoice (schema: object, value: Json): boolean {
  return typeof value !== 'string' || 'anyOf' in schema || 'enum' in schema
}
