import { LRUCache } from 'lru-cache'
import type { Problem } from '../contract/errors.ts'
import type { JsonObject } from '../contract/json.ts'
import { compileJsonSchema } from '../contract/schema.ts'
import { compileTemplate } from '../documents/compile.ts'
import { unread } from '../documents/uses.ts'
import type { StoredTemplate } from '../store/templates.ts'

/** What a template says about the data of a request. Paths point into the request. */
export type TemplateCheck = {
  /** What keeps the data from fitting the template's schema. */
  fits: (data: JsonObject) => Problem[]
  /** Warnings for the fields that the template never shows. */
  unused: (data: JsonObject) => Problem[]
}
export type TemplateChecks = (template: StoredTemplate) => TemplateCheck

const base = '/template/data'
const mostTemplates = 500

/** Compiles each version of a template once, and keeps those in use. */
export function createTemplateChecks (): TemplateChecks {
  const compiled = new LRUCache<string, TemplateCheck>({ max: mostTemplates })
  return (template) => {
    const known = compiled.get(template.digest) ?? compile(template)
    compiled.set(template.digest, known)
    return known
  }
}

function compile ({ schema, source }: StoredTemplate): TemplateCheck {
  const fit = compileJsonSchema(schema)
  const { uses } = compileTemplate(source)
  return {
    fits (data) {
      const result = fit(data, base)
      return result.ok ? [] : result.problems
    },
    unused: (data) => unread(uses, data).map((path) => ({ path: base + path, code: 'unused_field', message: 'The template does not show this field.' }))
  }
}
