import { isRecord } from '@dispatch/common'
import type { ServiceName } from '@dispatch/services'
import { latestVersion, type Version } from '../versions.ts'
import { deferrable, deferredStepSchema, eventsOf, maxDeferred, type StepSchema, stepSchemas, topLevelFieldsOf } from './request-schema.ts'

export type Fields = Readonly<Record<string, unknown>>

/**
 * Where in a body a step's fields are found: `inside` its own object, which stands at `base`, and some at the top level. `lifted`: those
 * that may stand in either.
 */
export type StepLocation = StepSchema & { base: string, inside: Fields, body: Fields, lifted: readonly string[] }

/**
 * Finds where the fields of a path's steps are in any body, and those of the deferred steps whose service the body names.
 */
export function createStepLocator (
  path: readonly ServiceName[],
  version: Version = latestVersion
): (body: Fields) => { steps: StepLocation[], deferred: StepLocation[] } {
  const forms = stepSchemas(path, version)
  const mayDefer = eventsOf(path).length > 0
  return (body) => ({
    steps: forms.map((form) => placeIn(body, form, `/${form.service}`, body[form.service], topLevelFieldsOf(form.service, path))),
    deferred: mayDefer ? deferredIn(body) : []
  })
}

function placeIn (body: Fields, form: StepSchema, base: string, own: unknown, lifted: readonly string[]): StepLocation {
  return { ...form, base, inside: isRecord(own) ? own : {}, body, lifted }
}

function deferredIn (body: Fields): StepLocation[] {
  const { deferred } = body
  return (Array.isArray(deferred) ? deferred.slice(0, maxDeferred) : []).flatMap((own: unknown, index) => {
    const service = isRecord(own) ? deferrable.find((name) => name === own['service']) : undefined
    return service === undefined ? [] : [placeIn(body, deferredStepSchema(service), `/deferred/${index}`, own, [])]
  })
}

/** Whether the step can have a template of its own. */
export function takesTemplate ({ top, own }: StepLocation): boolean {
  return top.includes('template') || own.properties['template'] !== undefined
}

/** Whether a field is given, wherever it may stand. */
export function isGiven ({ inside, body, top }: StepLocation, field: string): boolean {
  return Object.hasOwn(inside, field) || (top.includes(field) && Object.hasOwn(body, field))
}

/** What is given for a field; undefined for nothing. */
export function valueOf (place: StepLocation, field: string): unknown {
  if (!isGiven(place, field)) return undefined
  return Object.hasOwn(place.inside, field) ? place.inside[field] : place.body[field]
}

/** The JSON pointer of a field: where it is, or where it belongs. */
export function pointerTo ({ base, inside, top }: StepLocation, field: string): string {
  return top.includes(field) && !Object.hasOwn(inside, field) ? `/${field}` : `${base}/${field}`
}
