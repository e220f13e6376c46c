import type { UserRef } from '@dispatch/accounts'
import { isRecord, type JsonObject, shortened } from '@dispatch/common'
import { DispatchError } from '@dispatch/contract'
import type { Database } from '@dispatch/database'
import { token } from '@dispatch/plugins/feature'
import { isServiceName, type ServiceName, services } from '@dispatch/services'
import { isWithoutKey } from '@dispatch/tables'
import { randomUUID } from 'node:crypto'
import type { DraftBody, DraftSummary, DraftView } from '../contract/drafts.ts'
import { type DraftRow, listDrafts, type ListedRow, readDraft, removeDraft, removeOldDrafts, type SummaryRow, templateNames,
  writeDraft } from '../store/drafts.ts'

/** Requests that people have begun to write. Each is private to its author, who may let everybody of the company read it. */
export type Drafts = {
  /** The drafts of the person and the shared ones, the last written first; 100 at most. */
  list: (reader: UserRef, only: { sandbox?: boolean }) => Promise<DraftSummary[]>
  /** Throws `not_found` where the person may not read it. */
  read: (reader: UserRef, id: string) => Promise<DraftView>
  create: (author: UserRef, body: DraftBody) => Promise<DraftView>
  /** Makes it, or replaces what it says. Throws `not_found` where it is somebody else's. */
  write: (author: UserRef, id: string, body: DraftBody) => Promise<DraftView>
  /** Throws `not_found` where the person has none with this id. */
  remove: (author: UserRef, id: string) => Promise<void>
  /** Removes what was sent a day ago, and what nobody has written to for 90 days. */
  sweep: () => Promise<void>
}

export const drafts = token<Drafts>('drafts')

const day = 86_400_000
const keptAfterSending = day
const kept = 90 * day

/** The drafts of users. Throws `not_found` for one that is not there or that the actor may not see. */
export function createDrafts ({ database, now }: { database: Database, now: () => Date }): Drafts {
  async function write (author: UserRef, id: string, body: DraftBody): Promise<DraftView> {
    const row = await writeDraft(database, author, id, { sandbox: false, ...body, at: now() })
    return row === undefined ? notFound(id) : viewOf(row)
  }
  return {
    write,
    async list (reader, only) {
      const rows = await listDrafts(database, reader, only)
      const described = rows.map((row) => ({ row, ...toldBy(row) }))
      const names = await templateNames(database, reader.companyId, [...new Set(described.flatMap(({ templateId }) => templateId ?? []))])
      return described.map(({ row, templateId, ...about }) => ({ ...summaryOf(row), ...about, template: namedTemplate(templateId, names) }))
    },
    async read (reader, id) {
      const row = await readDraft(database, reader, id)
      return row === undefined ? notFound(id) : viewOf(row)
    },
    create: (author, body) => write(author, randomUUID(), body),
    async remove (author, id) {
      if (!await removeDraft(database, author, id)) notFound(id)
    },
    async sweep () {
      const time = now().getTime()
      await removeOldDrafts(database, { sent: new Date(time - keptAfterSending), unsent: new Date(time - kept) })
    }
  }
}

function notFound (id: string): never {
  throw new DispatchError('not_found', `You have no draft ${id}.`)
}

function summaryOf (row: SummaryRow): Omit<DraftView, 'request'> {
  return {
    id: row.draft_id,
    service: row.service,
    sandbox: row.sandbox,
    shared: row.shared,
    dispatchId: row.dispatch_id,
    idempotencyKey: row.draft_id,
    userId: row.user_id,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString()
  }
}

/** Characters of what is told of a draft. */
const maxTold = 200

const shown = (value: unknown): string | null => typeof value === 'string' && value.trim() !== '' ? shortened(value.trim(), maxTold) : null

type About = Pick<DraftSummary, 'recipient' | 'subject'>

/** What a draft tells of itself. One whose data key is away, or that cannot be opened, tells nothing. */
function toldBy ({ service, request }: ListedRow): About & { templateId?: number | undefined } {
  const nothing = { recipient: null, subject: null }
  if (request === null || isWithoutKey(request)) return nothing
  try {
    return { ...aboutOf(service, request), templateId: templateIn(request) }
  } catch {
    return nothing
  }
}

/** Who would get what a request says, and what it is about. What is half written tells what it can. */
function aboutOf (path: string, request: JsonObject): About {
  const about: About = { recipient: null, subject: null }
  const { template } = request
  const data = isRecord(template) && isRecord(template['data']) ? template['data'] as JsonObject : {}
  for (const name of path.split('/')) {
    if (!isServiceName(name)) continue
    const own = request[name]
    const fields = isRecord(own) ? { ...request, ...own } : request
    const { recipient, documentNumber } = factsOf(name, fields, data)
    const { subject = '' } = services[name].template ?? {}
    about.recipient ??= shown(recipient)
    about.subject ??= shown(Reflect.get(fields, subject)) ?? shown(documentNumber)
  }
  return about
}

/** What the service finds in fields of which nobody has looked whether they are right. */
function factsOf (name: ServiceName, fields: object, data: JsonObject): { recipient?: unknown, documentNumber?: unknown } {
  try {
    return services[name].facts(fields as never, data)
  } catch {
    return {}
  }
}

function templateIn ({ template }: JsonObject): number | undefined {
  const id = isRecord(template) ? template['id'] : undefined
  return Number.isSafeInteger(id) && Math.abs(Number(id)) < 2 ** 31 ? Number(id) : undefined
}

function namedTemplate (id: number | undefined, names: ReadonlyMap<number, string>): DraftSummary['template'] {
  const name = id === undefined ? undefined : names.get(id)
  return id === undefined || name === undefined ? null : { id, name }
}

function viewOf (row: DraftRow): DraftView {
  return { ...summaryOf(row), request: row.request }
}
