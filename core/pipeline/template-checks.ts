import { LRUCache } from 'lru-cache'
import { compileJsonSchema } from '../contract/schema.ts'
import { compileTemplate } from '../documents/compile.ts'
import { dataCheck, type DataCheck, type DataFindings } from '../documents/data-check.ts'
import type { Workshop } from '../documents/workshop.ts'
import type { Draft, DraftTemplate } from './plan.ts'

/** What the template of a step says about its data. Paths point into the request. */
export type TemplateFindings = (content: DraftTemplate) => DataFindings

const at = '/template/data'
const mostTemplates = 500

/** Compiles each version of a template once, and keeps those in use. */
export function createSharedChecks (): TemplateFindings {
  const compiled = new LRUCache<string, DataCheck>({ max: mostTemplates })
  return ({ template: { digest, schema, source }, data }) => {
    const known = compiled.get(digest) ?? dataCheck(compileJsonSchema(schema), compileTemplate(source).uses)
    compiled.set(digest, known)
    return known(data, at)
  }
}

/** Asks every template of a draft about its data: a shared one at once, a company's own in the workshop, because nobody knows what its schema asks for. */
export function createTemplateChecks (workshop: Pick<Workshop, 'check'>): (draft: Pick<Draft, 'steps' | 'deferred'>) => Promise<TemplateFindings> {
  const shared = createSharedChecks()

  async function find (content: DraftTemplate): Promise<DataFindings> {
    const { template: { companyId, digest, schema, source }, data } = content
    // Its pictures say nothing about the data.
    return companyId === null ? shared(content) : workshop.check(companyId, { template: { digest, source: { ...source, assets: {} }, schema }, data, at })
  }

  return async ({ steps, deferred }) => {
    const contents = [...steps, ...deferred].flatMap(({ template }) => template ?? [])
    const found = new Map(await Promise.all(contents.map(async (content) => [content, await find(content)] as const)))
    return (content) => found.get(content) ?? { problems: [], warnings: [] }
  }
}
