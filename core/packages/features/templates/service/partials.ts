import { type Actor, type AuditAuthor, requireService } from '@dispatch/accounts'
import { DispatchError, refusal } from '@dispatch/contract'
import { type Database } from '@dispatch/database'
import type { KeptPartial, KeptPartials, TemplateWorkers } from '@dispatch/documents'
import type { PartialAnswer, PartialBody, PartialDetail, PartialView } from '../contract/partials.ts'
import type { AssetUseView } from '../contract/templates.ts'
import { listIncluding, listIncludingPartials, listPartials, type NextDraft, type PartialRow, readPartial, removePartial,
  storePartial } from '../store/partials.ts'
import type { Brands } from './brand.ts'
import { inspectKept, inspectTemplate } from './inspect.ts'
import { previewVersion } from './version-preview.ts'

/** What the templates of companies share; whoever changes it does so for their own company. */
export type Partials = {
  /** By name. */
  list: (companyId: number, page: { limit: number, after?: string }) => Promise<PartialView[]>
  read: (companyId: number, name: string) => Promise<PartialDetail | undefined>
  /**
   * Stores the next version, and a new draft of each template that includes it: of the version in use, and of a newer one. Throws
   * `validation_failed` with every fault, also of a template that would not become a document any more, and `conflict`.
   */
  store: (by: PartialAuthor, name: string, body: PartialBody) => Promise<PartialAnswer>
  /** The templates that include it, in the version in use or the newest one. */
  uses: (companyId: number, name: string) => Promise<AssetUseView[]>
  /** Throws `conflict` where something includes it. Answers whether there was one. */
  remove: (author: AuditAuthor, name: string) => Promise<boolean>
}

export type PartialAuthor = { author: AuditAuthor, services: Actor['services'] }

type Parts = { database: Database, templateWorkers: TemplateWorkers, brands: Pick<Brands, 'current'>, now: () => Date }

/**
 * What the templates of companies share. Throws `validation_failed` for a source with faults, also where a template would have them;
 * `conflict` for one that is still included, and for another kind under its name.
 */
export function createPartials (parts: Parts): Partials {
  const { database, now } = parts
  const uses = async (companyId: number, name: string): Promise<AssetUseView[]> =>
    (await listIncluding(database, companyId, name)).map(({ id, name: template, version, present }) => ({
      templateId: id,
      name: template,
      version,
      published: present
    }))
  return {
    list: async (companyId, page) => (await listPartials(database, companyId, page)).map(viewOf),

    async read (companyId, name) {
      const row = await readPartial(database, companyId, name)
      return row && { ...viewOf(row), source: row.yaml }
    },

    store: (by, name, body) => store(parts, by, name, body),
    uses,

    async remove (author, name) {
      const { companyId } = author
      const [templates, partials] = await Promise.all([uses(companyId, name), listIncludingPartials(database, companyId, name)])
      const users = [...new Set([...templates.map((use) => use.name), ...partials])]
      if (users.length > 0) {
        throw new DispatchError('conflict', `"${name}" is included by ${
          users.slice(0, 5).map((user) => `"${user}"`).join(', ')
        }${users.length > 5 ? ' and others' : ''}: take it out of them first.`, { reason: 'in_use' })
      }
      return removePartial(database, { companyId, author, at: now() }, name)
    }
  }
}

async function store (parts: Parts, { author, services }: PartialAuthor, name: string, body: PartialBody): Promise<PartialAnswer> {
  const { database, now } = parts
  const { companyId } = author
  const { kind, source: yaml, baseVersion: base = 0 } = body
  const { inspection, kept } = await inspectKept(parts, companyId, { name, kind, yaml })
  const known = Object.hasOwn(kept, name) ? kept[name] : undefined
  if (known !== undefined && known.kind !== kind) {
    throw new DispatchError('conflict', `"${name}" is a ${known.kind}, and stays one: choose another name.`, { reason: 'exists' })
  }
  if (!inspection.ok) throw refusal('validation_failed', inspection.problems)
  const { source } = inspection
  const changed = { ...kept, [name]: { kind, version: base + 1, source } as KeptPartial }
  const drafts: NextDraft[] = []
  const brand = await parts.brands.current(companyId)
  for (const { id, latest, version, name: template, yaml: text, schema, sample, facts } of await listIncluding(database, companyId, name)) {
    const next = await inspectTemplate(parts, companyId, { ...facts, source: text, schema, sample }, changed).catch((error: unknown) => {
      throw inTemplate(error, `"${template}", version ${String(version)}`)
    })
    for (const service of [next.version.source.service, ...next.version.source.alsoFor ?? []]) requireService({ services }, service)
    await previewVersion(parts, companyId, { id, version, ...next.version }, { brand }).catch((error: unknown) => {
      throw inTemplate(error, `"${template}", version ${String(version)}`)
    })
    drafts.push({ id, latest, version: next.version })
  }
  const by = { companyId, author, at: now() }
  const made = await storePartial(database, by, { name, kind, yaml, source, base, seen: includedIn(source, kept, name) }, drafts)
  const view = { name, kind, version: base + 1, updatedAt: by.at.toISOString(), userId: author.userId, source: yaml }
  return { ...view, templates: made.map((one) => ({ templateId: one.id, name: one.name, version: one.version, published: false })) }
}

/** The partials that one includes, at any depth, with their versions. */
function includedIn (source: KeptPartial['source'], kept: KeptPartials, itself: string): Map<string, number> {
  const found = new Map<string, number>()
  const texts = [JSON.stringify(source)]
  for (const text of texts) {
    for (const [name, partial] of Object.entries(kept)) {
      if (name === itself || found.has(name) || !text.includes(`{"partial":${JSON.stringify(name)}}`)) continue
      found.set(name, partial.version)
      texts.push(JSON.stringify(partial.source))
    }
  }
  return found
}

/** A fault that a template would have, as one of the partial. */
function inTemplate (error: unknown, template: string): unknown {
  if (!(error instanceof DispatchError) || error.details === undefined) return error
  return refusal('validation_failed',
    error.details.map(({ code, message }) => ({ path: '/source', code, message: `The template ${template} would be refused: ${message}` })))
}

function viewOf ({ name, kind, version, updated_at: updatedAt, user_id: userId }: PartialRow): PartialView {
  return { name, kind, version, updatedAt: updatedAt.toISOString(), userId }
}
