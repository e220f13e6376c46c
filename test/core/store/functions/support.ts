import { sql } from 'kysely'
import { randomUUIDv7 } from 'node:crypto'
import type { Test } from 'tap'
import { createCompanies } from '../../../../core/packages/accounts/store/accounts.ts'
import { type Database, openDatabase } from '../../../../core/packages/database/database.ts'
import type { PreparedJobs } from '../../../../core/packages/tables/jobs.ts'
import type { EventActor } from '../../../../core/packages/tables/schema.ts'
import { callFunction } from '../../../../core/store/calls/database-functions.ts'
import type { DatabaseFunctions } from '../../../../core/store/calls/functions.ts'
import { rowRules } from '../../../support/row-rules.ts'
import { seededDatabase } from '../../../support/service.ts'

type Functions = DatabaseFunctions
type OpenGiven = Functions['open_dispatch']['given']

/** The time of the database in these tests. */
export const moment = new Date('2026-03-14T09:30:00.000Z')
export const later = (seconds: number): Date => new Date(moment.getTime() + seconds * 1000)

export const system: EventActor = { kind: 'system' }
export const failure = { word: 'provider_error', message: 'No.' } as const

type Company = { companyId: number, userId: number }
/** A dispatch with its first step, and the run that it was opened under. */
export type Key = { company_id: number, dispatch_id: string, step_id: string, run_id: string }

/** A job that notes its text. */
export const job = (text: string): PreparedJobs => ({ statement: 'insert into jobs_added values ($1)', rows: text })

export const document = (id: string, filename = 'a.pdf') => ({
  document_id: id,
  filename,
  content_type: 'application/pdf',
  size: 12,
  sha256: 'ab',
  pages: 1,
  storage_key: `key-${id}`,
  expires_at: later(3600)
})

type StepRow = OpenGiven['steps'][number]
type Opening = Partial<Omit<OpenGiven, 'steps' | 'company_id' | 'dispatch_id'>> & { steps?: readonly Partial<StepRow>[] }

/** A step that no provider does. */
export const local = { provider_code: undefined, provider_version: undefined, chosen_by: undefined, configured_by: undefined }

/** What `open_dispatch` is given for a dispatch under a lease of 15 seconds; its steps cost 3 credits each. */
export function opening ({ companyId, userId }: Company, { steps = [{}], ...more }: Opening = {}): OpenGiven {
  const rows = steps.map((step, position): StepRow => ({
    step_id: randomUUIDv7(),
    position,
    service: 'invoicing',
    provider_code: 'simulator',
    provider_version: '1.0.0',
    chosen_by: 'company',
    configured_by: 'user',
    sandbox: false,
    fields: { documentType: 'INVOICE' },
    request_settings: { timeout: 3 },
    price: 3,
    held: 3,
    status: 'planned',
    document_id: undefined,
    template_id: undefined,
    template_version: undefined,
    brand_version: undefined,
    data: undefined,
    deferred_on: undefined,
    traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    providers: undefined,
    ...step
  }))
  return {
    company_id: companyId,
    dispatch_id: randomUUIDv7(),
    dispatch: {
      user_id: userId,
      impersonator_id: undefined,
      services: ['invoicing'],
      template_id: 1,
      template_version: 1,
      brand_version: undefined,
      data: { number: 'F-1' },
      metadata: { a: 'b' },
      document_type: 'INVOICE',
      document_number: 'F-1',
      recipient: 'a@example.com',
      callback_url: undefined,
      api_version: '1.1.0',
      request_id: 'request-1',
      test: false,
      schedule: undefined,
      due_at: undefined,
      in_batch: undefined
    },
    steps: rows,
    documents: [],
    events: [{ kind: 'planned', actor: { kind: 'user', userId }, facts: { price: 3 } }],
    attempt: undefined,
    price: rows.reduce((sum, { held }) => sum + held, 0),
    idempotency_key: undefined,
    fingerprint: undefined,
    run_id: randomUUIDv7(),
    lease_seconds: 15,
    jobs: [],
    ...more
  }
}

async function brokenRules (owner: Database['owner']): Promise<object[]> {
  const found = await Promise.all(Object.entries(rowRules).map(async ([rule, text]) => {
    const { rows } = await sql<object>`${sql.raw(text)}`.execute(owner)
    return rows.map((row) => ({ rule, ...row }))
  }))
  return found.flat()
}

/** The functions of a database of their own, and what they leave there. */
export async function openFunctions (t: Test) {
  const database = openDatabase({ connectionString: await seededDatabase(t) }, {
    connections: 4,
    onError: (error) => t.fail(error.message),
    time: () => moment
  })
  const { owner } = database
  t.teardown(async () => {
    const broken = await brokenRules(owner)
    await database.close()
    if (broken.length > 0) throw new Error(`What the functions have written breaks rules: ${JSON.stringify(broken)}`)
  })
  await sql`create table jobs_added (text text)`.execute(owner)
  const call = async <Name extends keyof Functions>(name: Name, given: Functions[Name]['given']): Promise<Functions[Name]['answer']> =>
    (await callFunction(database, name, given)).answer
  const company = companyFactory(database)

  async function opened (more: Opening = {}, of?: Company): Promise<Key> {
    const given = opening(of ?? await company(), more)
    await call('open_dispatch', given)
    return { company_id: given.company_id, dispatch_id: given.dispatch_id, step_id: given.steps[0]!.step_id, run_id: given.run_id ?? '' }
  }

  return {
    database,
    call,
    company,
    /** Another company, which may do nothing with their dispatches. */
    stranger: (await company()).companyId,
    opened,
    /** A dispatch whose first step is being done by its provider. */
    calling: async (more: Opening = {}): Promise<Key> => {
      const key = await opened(more)
      await call('begin_attempt', { ...key, ...attempt })
      return key
    },
    jobsAdded: async (): Promise<string[]> => {
      const { rows } = await sql<{ text: string }>`delete from jobs_added returning text`.execute(owner)
      return rows.map(({ text }) => text)
    },
    dispatch: (key: Pick<Key, 'dispatch_id'>) =>
      owner.selectFrom('dispatches').selectAll().where('dispatch_id', '=', key.dispatch_id).executeTakeFirst(),
    steps: (key: Pick<Key, 'dispatch_id'>) =>
      owner.selectFrom('steps').selectAll().where('dispatch_id', '=', key.dispatch_id).orderBy('position').execute(),
    attempts: (key: Pick<Key, 'step_id'>) =>
      owner.selectFrom('attempts').selectAll().where('step_id', '=', key.step_id).orderBy('number').execute(),
    events: (key: Pick<Key, 'dispatch_id'>) =>
      owner.selectFrom('events').select(['kind', 'step_id', 'actor', 'facts', 'at']).where('dispatch_id', '=', key.dispatch_id)
        .orderBy('event_id').execute(),
    credits: async (companyId: number): Promise<[balance: number, held: number]> => {
      const { balance, held } = await owner.selectFrom('credits').select(['balance', 'held']).where('company_id', '=', companyId)
        .executeTakeFirstOrThrow()
      return [Number(balance), Number(held)]
    },
    /** Everything that the functions change of a dispatch and its company, as one text. */
    everything: async (key: Key): Promise<string> => {
      const { rows: [row] } = await sql<{ text: string }>`select jsonb_build_array(
        (select jsonb_agg(d) from dispatches d where dispatch_id = ${key.dispatch_id}),
        (select jsonb_agg(s order by position) from steps s where dispatch_id = ${key.dispatch_id}),
        (select jsonb_agg(a) from attempts a where step_id = ${key.step_id}),
        (select jsonb_agg(e order by event_id) from events e where dispatch_id = ${key.dispatch_id}),
        (select jsonb_agg(d) from documents d where dispatch_id = ${key.dispatch_id}),
        (select jsonb_agg(c order by company_id) from credits c),
        (select count(*) from jobs_added),
        (select count(*) from audit))::text as text`
        .execute(owner)
      return row?.text ?? ''
    }
  }
}

/** What `begin_attempt` is given beside the key, where a provider is called. */
export const attempt = {
  provider_code: undefined,
  provider_version: '1.0.1',
  configured_by: undefined,
  document_id: undefined,
  made: undefined,
  documents: [],
  events: []
}

/** Companies with 10 credits and one user each, unless told. */
function companyFactory (database: Database) {
  let count = 0
  return async (credits = 10): Promise<Company> => {
    const email = `user-${++count}@example.com`
    const user = { email, role: 'member' as const, services: [], passwordHash: '' }
    const [companyId = 0] = await createCompanies(database, [{ name: email, credits, users: [user] }], moment)
    const { user_id: userId } = await database.owner.selectFrom('users').select('user_id').where('email', '=', email)
      .executeTakeFirstOrThrow()
    return { companyId, userId }
  }
}
