import type { Json, JsonObject } from '@dispatch/common'
import { type Html, html } from '../../html.ts'
import { linesField } from '../form/fields.ts'
import { objectIn, pretty } from '../form/json.ts'
import { type FieldSchema, isList, isObject, kindOf, type SettingsForm } from '../form/schema.ts'
import { fieldsOf, readSettings } from '../form/settings.ts'
import { fill, wordFor, type Words } from '../language/language.ts'
import type { Api, ApiAnswer, DispatchRequestView, DispatchView, ErrorBody } from '../session/api.ts'
import { anchors } from './anchors.ts'
import { followingForms, serviceForms } from './send-forms.ts'

type RequestStep = DispatchRequestView['steps'][number]

/** A step that failed, with the fields that a retry may replace. `at`: where it stands among the steps. */
export type Correctable = { at: number, step: RequestStep }

/** What a person has sent to correct a step, and why the API refused it. */
export type Correction = { service: string, fields: JsonObject, error?: ErrorBody }

/** Whether a retry does something: on the path, or what was deferred. */
export function isRetriable ({ status, steps }: DispatchView): boolean {
  return status === 'failed' || status === 'partial' || steps.some(({ deferredState }) => deferredState === 'failed')
}

/** What was asked for, or why it cannot be read: it may be no longer kept. */
export function readRequest (api: Api, id: string): Promise<ApiAnswer<DispatchRequestView>> {
  return api.send<DispatchRequestView>('GET', `/api/v1/dispatches/${encodeURIComponent(id)}/request`)
}

/** The steps that can be corrected: on the path the first that was not done, and of the deferred ones those that failed. */
export function correctableOf ({ status, steps }: DispatchView, request: DispatchRequestView | undefined): Correctable[] {
  const isOpen = status === 'failed' || status === 'partial'
  const first = isOpen ? steps.findIndex((step) => step.deferredState === undefined && step.status !== 'accepted') : -1
  return (request?.steps ?? []).map((step, at) => ({ at, step })).filter(({ at, step }) =>
    Object.keys(step.fields).length > 0 && (at === first || steps[at]?.deferredState === 'failed')
  )
}

/** The form of a step: a text of its own only where no template makes it. */
function formOf ({ at, step: { service, template } }: Correctable, request?: Pick<DispatchRequestView, 'template'>): SettingsForm {
  const hasTemplate = template !== undefined || (at === 0 && request?.template !== undefined)
  return (hasTemplate ? serviceForms : followingForms)[service] ?? {}
}

/** The forms that correct a step and retry the dispatch. */
export function correctionForms (
  words: Words,
  path: string,
  { dispatch, steps, typed }: { dispatch: DispatchView, steps: readonly Correctable[], typed: Correction | undefined }
): Html[] {
  return steps.map((correctable) => {
    const { service, fields } = correctable.step
    const own = typed?.service === service ? typed : undefined
    const values = own?.fields ?? fields
    const filled = { values, problems: own?.error?.details ?? [] }
    const form = formOf(correctable, dispatch.template === null ? undefined : dispatch)
    return html`<details id="${anchors.correct(service)}"${own === undefined ? html`` : html` open`}><summary>${
      fill(words.correctStep, { service: wordFor(words, 'service', service) })
    }</summary>
<form method="post" action="${path}/correct" novalidate><input type="hidden" name="service" value="${service}">
${fieldsOf(words, form, filled, { name: `${service}.`, path: `/${service}` })}
<div class="actions"><button>${words.correctRetry}</button></div></form>
<details><summary>${words.correctWhole}</summary><form method="post" action="${path}/retry">${
      linesField({ name: 'correction', label: words.correction, help: words.correctionHelp, value: pretty({ [service]: values }) })
    }<div class="actions"><button class="second">${words.correctRetry}</button></div></form></details></details>
`
  })
}

/** The correction in a form: fields that stand in no form stay as they are. Undefined where the step cannot be corrected any more. */
export function readCorrection (dispatch: DispatchView, steps: readonly Correctable[], body: URLSearchParams): Correction | undefined {
  const found = steps.find(({ step: { service } }) => service === body.get('service'))
  if (found === undefined) return undefined
  const form = formOf(found, dispatch.template === null ? undefined : dispatch)
  return { service: found.step.service, fields: overlaid(form, found.step.fields, readSettings(form, body, `${found.step.service}.`)) }
}

/** The correction that somebody has written as JSON; empty: nothing is corrected. Undefined where it cannot be read. */
export function writtenCorrection (text: string): JsonObject | undefined {
  return text.trim() === '' ? {} : objectIn(text)
}

/** What was read in the places of a form, and what was there in all others. */
function overlaid ({ properties = {} }: SettingsForm, before: JsonObject, read: JsonObject): JsonObject {
  const kept = Object.entries(before).filter(([name]) => !Object.hasOwn(properties, name))
  const own = Object.entries(properties).flatMap(([name, schema]) => {
    const value = read[name]
    return value === undefined ? [] : [[name, mixed(schema, before[name], value)] as const]
  })
  return Object.fromEntries([...kept, ...own])
}

function mixed (schema: FieldSchema, before: Json | undefined, read: Json): Json {
  const kind = kindOf(schema)
  if (kind === 'group' && isObject(before) && isObject(read)) return overlaid(schema, before, read)
  // Lines that were added or removed are new ones: which is which nobody can tell.
  if (kind !== 'rows' || !isList(before) || !isList(read) || before.length !== read.length) return read
  return read.map((row, index) => {
    const old = before[index]
    return isObject(old) && isObject(row) ? overlaid(schema.items ?? {}, old, row) : row
  })
}
