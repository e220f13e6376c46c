import { didYouMean } from '@dispatch/common'
import { DispatchError } from '@dispatch/contract'
import type { Templates } from '@dispatch/core'
import type { TemplateStore } from '../store/templates.ts'

/** A template by its number, or by its name. */
type Named = Parameters<Templates['find']>[1]

/** The templates for dispatches. */
export function createTemplates (store: TemplateStore): Templates {
  return {
    async find (companyId, named) {
      const template = 'id' in named ? await store.find(companyId, named.id) : await store.findNamed(companyId, named.name)
      if (template !== undefined) return template
      throw new DispatchError('template_not_found', await whyMissing(store, companyId, named))
    },
    findVersion: (companyId, templateId, version) => store.findVersion(companyId, templateId, version),
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
