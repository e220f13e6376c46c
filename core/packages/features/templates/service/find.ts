import { didYouMean } from '@dispatch/common'
import { DispatchError } from '@dispatch/contract'
import { type StoredTemplate, type Templates } from '@dispatch/core'
import type { TemplateStore } from '../store/templates.ts'
import type { Brands } from './brand.ts'

/** A template by its number, or by its name. */
type Named = Parameters<Templates['find']>[1]

/** The templates for dispatches. Those that take a brand have that of the company. Throws `template_not_found` with the reason. */
export function createTemplates (store: TemplateStore, brands: Pick<Brands, 'current' | 'version'>): Templates {
  async function inBrand (template: StoredTemplate, version: Promise<StoredTemplate['brand']>): Promise<StoredTemplate> {
    const brand = await version
    return brand === undefined ? template : { ...template, brand }
  }

  return {
    async find (companyId, named) {
      const template = 'id' in named ? await store.find(companyId, named.id) : await store.findNamed(companyId, named.name)
      if (template?.source.brand !== undefined) return inBrand(template, brands.current(companyId))
      if (template !== undefined) return template
      throw new DispatchError('template_not_found', await whyMissing(store, companyId, named))
    },
    async findVersion (companyId, templateId, version, brand) {
      const template = await store.findVersion(companyId, templateId, version)
      return template === undefined || brand === null ? template : inBrand(template, brands.version(companyId, brand))
    },
    namesOf: (companyId, templateIds) => store.namesOf(companyId, templateIds),
    listShared: () => store.listShared()
  }
}

/** The most template names that an unknown name is compared with, to suggest a similar one. */
const compared = 500

async function whyMissing (store: TemplateStore, companyId: number, named: Named): Promise<string> {
  const [first] = 'id' in named
    ? await store.list(companyId, {}, { limit: 1, after: named.id - 1 })
    : await store.list(companyId, { name: named.name, status: 'draft' }, { limit: 1 })
  if (first?.present === null && (!('id' in named) || first.id === named.id)) {
    return `The template ${first.id} ("${first.name}") is a draft: publish it with POST /api/v1/templates/${first.id}/publish.`
  }
  const lists = 'GET /api/v1/templates lists those that you may use.'
  if ('id' in named) return `There is no template ${named.id}: ${lists}`
  const names = (await store.list(companyId, { status: 'published' }, { limit: compared })).map(({ name }) => name)
  return `There is no template "${named.name}"${didYouMean(named.name, names)}: ${lists}`
}
