import type { Database } from '@dispatch/database'
import { columns, type RunningProvider } from '@dispatch/tables'
import { sql } from 'kysely'

/** A process that loads providers. `number`: of its last reload; `templateLanguage`: the newest language of templates that it reads. */
export type ProviderProcess =
  & { processId: string, machine: string, pid: number }
  & { number: number, providers: RunningProvider[], templateLanguage: number }

/** Seconds after which a process that has not been seen counts as ended. */
const silence = 15

/** The number of the last reload that every process is to make. */
export async function readReloads ({ owner }: Database): Promise<number> {
  const { number } = await owner.selectFrom('provider_reloads').select('number').executeTakeFirstOrThrow()
  return Number(number)
}

/** Asks every process for a reload, and answers its number. */
export async function requestReload ({ owner }: Database): Promise<number> {
  const { rows: [row] } = await sql<{ number: string }>`update provider_reloads set number = number + 1 returning number`.execute(owner)
  return Number(row?.number)
}

/** Records what a process runs, and that it lives. */
export async function recordProcess ({ owner, now }: Database, process: ProviderProcess): Promise<void> {
  const { processId, machine, pid, number, providers, templateLanguage } = process
  const values = { machine, pid, number, providers: JSON.stringify(providers), template_language: templateLanguage, seen_at: now }
  await owner.insertInto('provider_processes').values({ process_id: processId, ...values })
    .onConflict((conflict) => conflict.column('process_id').doUpdateSet(values)).execute()
}

/** Forgets a process that ends, and those that have ended without a word. */
export async function forgetProcess ({ owner, now }: Database, processId: string): Promise<void> {
  await sql`delete from provider_processes where process_id = ${processId} or seen_at < ${now} - interval '1 day'`.execute(owner)
}

/** The processes that live. */
export async function listProcesses ({ owner, now }: Database): Promise<ProviderProcess[]> {
  const rows = await owner.selectFrom('provider_processes').select(columns.provider_processes).where('seen_at', '>',
    sql<Date>`${now} - ${silence} * interval '1 second'`)
    .orderBy('machine').orderBy('pid').orderBy('process_id').execute()
  return rows.map((row) => ({
    processId: row.process_id,
    machine: row.machine,
    pid: row.pid,
    number: Number(row.number),
    providers: row.providers,
    templateLanguage: row.template_language
  }))
}
