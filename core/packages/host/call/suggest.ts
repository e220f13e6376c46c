import { compile, pointer, type Problem } from '@dispatch/common'
import { Type } from 'typebox'
import { copyJson } from '../contain/plain-json.ts'
import type { InstalledProvider } from '../load/load.ts'
import { Suggestion } from '../manifest/suggestion.ts'
import { checkSettings } from '../settings/settings.ts'
import type { CheckResult } from './check.ts'
import { type CallContext, type CallLimits, type FailedCall, invokeFunction } from './invoke.ts'
import { readingOnly } from './reading-only.ts'

/** The vendor has more than a form can show: those that come first are shown. */
const maxSuggestions = 200

/** The values of a setting that the vendor has, or why they are not known. `code` is the vendor's. */
export type Suggested =
  | { result: 'ok', values: Suggestion[] }
  | Extract<CheckResult, { result: 'failed' | 'cannot_be_checked' }>

/** The time limit in milliseconds: a person waits. */
const usualLimit = 15_000

const fitSuggestions = compile(Type.Array(Suggestion, { maxItems: 10_000 }))

/** Asks the vendor which values a setting may have. Nothing is changed there. Throws where the provider has no suggestions for it. */
export async function callSuggest (
  installed: InstalledProvider,
  setting: string,
  context: CallContext,
  limits: CallLimits = { limit: usualLimit }
): Promise<Suggested> {
  const { code, suggestions } = installed
  const run = suggestions[setting]
  if (run === undefined) throw new TypeError(`The provider "${code}" has no suggestions for "${setting}".`)
  const ways = readingOnly(`The suggestions for "${setting}" of the provider "${code}"`)
  const called = await invokeFunction(installed, { run, passed: false, ways }, undefined, context, limits)
  if ('outcome' in called) return failedOf(called)
  const copied = copyJson(called.returned)
  const fit = copied.ok ? fitSuggestions(copied.value) : copied
  if (!fit.ok) {
    return { result: 'cannot_be_checked', message: `What the provider "${code}" suggests for "${setting}" cannot be read.` }
  }
  const fitting = fit.value.filter(({ value }) => unfit(installed, setting, value).length === 0).slice(0, maxSuggestions)
  return {
    result: 'ok',
    values: fitting.map(({ value, title }) => ({ value, ...title !== undefined && { title: called.redact.text(title) } }))
  }
}

/** Why a setting cannot have a suggested value, by itself or as one of a list. */
function unfit ({ manifest: { settings: form } }: InstalledProvider, setting: string, value: Suggestion['value']): Problem[] {
  const at = pointer('', setting)
  const tried = [value, [value]].map((given) => checkSettings(form, { [setting]: given }).filter(({ path }) => path.startsWith(at)))
  return tried.find((problems) => problems.length === 0) ?? tried[0] ?? []
}

function failedOf ({ outcome, error: { code, message } }: FailedCall): Suggested {
  return { result: outcome === 'rejected' ? 'failed' : 'cannot_be_checked', ...(code !== undefined && { code }), message }
}
