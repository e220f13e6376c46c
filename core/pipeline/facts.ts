import type { JsonObject } from '@dispatch/common'
import { type FactsTemplate, type ServiceName, services, takesDocument, toldData } from '@dispatch/services'
import type { TemplateContent } from './step.ts'
import type { StoredTemplate } from './templates.ts'

/** What says something in a document: its own step, and each that takes it over. */
type Telling = { service: ServiceName, fields: JsonObject, template?: TemplateContent }

/** A template as its facts are looked for. */
export function factsTemplateOf ({ source: { service, alsoFor = [], vocabulary }, schema, sample }: StoredTemplate): FactsTemplate {
  return { services: [service, ...alsoFor], schema, sample, ...(vocabulary === undefined ? {} : { vocabulary }) }
}

/** The template whose facts a step shares: its own, or that of the document that it takes, the first one of its path. */
export function sharedContent<Content> (
  { service, fields, template }: { service: ServiceName, fields: JsonObject, template?: Content },
  first: { template?: Content } | undefined
): Content | undefined {
  return template ?? (takesDocument(service, fields) ? first?.template : undefined)
}

/** The data that the document of a step shows: its own, and what only the fields of the path say. */
export function shownData (step: Telling & { template: TemplateContent }, path: readonly Telling[]): JsonObject {
  const { template: { template, data } } = step
  const known = factsTemplateOf(template)
  const takers = path[0]?.template === step.template ? path.slice(1).filter((other) => isTaking(other, known)) : []
  return [step, ...takers].reduce((shown, { service, fields }) => toldData(services[service], fields, shown, known), data)
}

/** Whether a step takes the document of a template that is made for it. */
function isTaking ({ service, fields, template }: Telling, { services: madeFor = [] }: FactsTemplate): boolean {
  return template === undefined && madeFor.includes(service) && takesDocument(service, fields)
}
