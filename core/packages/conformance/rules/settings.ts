import type { JsonObject } from '@dispatch/common'
import { checkSettings, secretNames } from '@dispatch/host'
import { type Case, judged, skipped } from '../report.ts'
import type { ProviderUnderTest } from '../run/subject.ts'

/** Checks the settings schemas of a provider with the settings of its fixtures. */
export function settingsCases ({ installed: { manifest }, fixtures }: Pick<ProviderUnderTest, 'installed' | 'fixtures'>): Case[] {
  const { settings: form, requestSettings } = manifest
  const untitled = Object.entries({ settings: form, requestSettings }).flatMap(([where, { properties }]) =>
    fieldsAndChoices(properties).filter(([, { title }, needsTitle]) => needsTitle && title === undefined)
      .map(([what]) => `${where}: ${what} has no title.`)
  )
  const untranslated = [form, requestSettings].flatMap(translationFaults)
  const samples = [...fixtures.sends, ...fixtures.events].map(({ fixture }) => fixture.settings)
  const refusedWithout = (name: string): boolean => samples.every((settings) => checkSettings(form, without(settings, name)).length > 0)
  const refusedEmpty = (name: string): boolean => samples.every((settings) => checkSettings(form, { ...settings, [name]: '' }).length > 0)
  const required = (form.required ?? []).map((name) =>
    judged('required', `settings without "${name}"`, refusedWithout(name) ? [] : [`They are taken without "${name}".`])
  )
  const secrets = secretNames(form).map((name) =>
    judged('secret', `settings with "${name}" empty`,
      refusedEmpty(name) ? [] : [`They are taken with "${name}" empty: declare it as Secret(), which refuses that.`])
  )
  return [
    judged('titles', 'the settings are a form', [...untitled, ...untranslated]),
    ...required.length > 0 ? required : [skipped('required', 'settings without a required field', 'No field is required.')],
    ...secrets.length > 0 ? secrets : [skipped('secret', 'settings with an empty secret', 'There is no secret.')]
  ]
}

type Form = ProviderUnderTest['installed']['manifest']['settings']

type Titled = { title?: string, description?: string, 'x-texts'?: Readonly<Record<string, { title: string, description?: string }>> }

/** The fields of a form and their choices, by their names in a report, and whether they must have a title: all choices, or none. */
function fieldsAndChoices (properties: Form['properties']): [what: string, texts: Titled, needsTitle: boolean][] {
  return Object.entries(properties).flatMap(([name, field]) => {
    const { anyOf: choices = [] } = field
    const areTitled = choices.some(({ title }) => title !== undefined)
    return [
      [`"${name}"`, field, true],
      ...choices.map((choice, index): [string, Titled, boolean] => [`choice ${String(index + 1)} of "${name}"`, choice, areTitled])
    ]
  })
}

/** A form in another language is one in which no text of that language is missing. */
function translationFaults ({ properties }: Form): string[] {
  const fields = fieldsAndChoices(properties)
  const languages = new Set(fields.flatMap(([, { 'x-texts': texts = {} }]) => Object.keys(texts)))
  return [...languages].flatMap((language) =>
    fields.flatMap(([what, { title, description, 'x-texts': texts = {} }]) => [
      ...title !== undefined && texts[language]?.title === undefined ? [`${what} has no title in "${language}".`] : [],
      ...description !== undefined && texts[language]?.description === undefined ? [`${what} has no description in "${language}".`] : []
    ])
  )
}

function without (settings: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(settings).filter(([field]) => field !== name))
}
