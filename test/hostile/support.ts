import { compile, type JsonObject } from '@dispatch/common'
import { ErrorBody, errorTable, type ErrorWord } from '@dispatch/contract'
import { openRow } from '@dispatch/tables'
import fastify, { type FastifyContextConfig, type RouteOptions } from 'fastify'
import { type Kysely, sql } from 'kysely'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { appPlugin } from '../../plugins/app.ts'
import type { App } from '../../plugins/container.ts'
import { has } from '../support/matching.ts'
import type { Answer, TestService } from '../support/service.ts'

/** The tables of the database, with whether their rows belong to companies. */
export async function tablesOf (app: App): Promise<{ name: string, ofCompanies: boolean }[]> {
  const { rows } = await sql<{ name: string, ofCompanies: boolean }>`
    select table_name as name, exists (select from information_schema.columns as own
      where own.table_schema = 'public' and own.table_name = tables.table_name and column_name = 'company_id') as "ofCompanies"
    from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE' order by table_name`.execute(
    app.get('database').owner
  )
  return rows
}

/** Every row of every table as JSON text, with what stands sealed in it opened; with a company, only those of its own. */
export async function dump (app: App, companyId?: number): Promise<Record<string, string[]>> {
  const tables = (await tablesOf(app)).filter(({ ofCompanies }) => companyId === undefined || ofCompanies)
  const entries = await Promise.all(
    tables.map(async ({ name }) => [name, await rowsOf(app.get('database').owner, name, companyId)] as const)
  )
  return Object.fromEntries(entries)
}

async function rowsOf (queries: Kysely<any>, table: string, companyId: number | undefined): Promise<string[]> {
  const own = companyId === undefined ? sql`` : sql`where company_id = ${companyId}`
  const { rows } = await sql<{ row: string }>`select to_jsonb(rows)::text as row from ${sql.table(table)} as rows ${own} order by 1`
    .execute(queries)
  return Promise.all(rows.map(async ({ row }) => {
    const stored = JSON.parse(row) as JsonObject
    const opened = JSON.stringify(await openRow(queries, stored))
    return opened === JSON.stringify(stored) ? row : opened
  }))
}

/** The rows that processes write by themselves: that they are there, and how far the database has come. */
const signsOfLife = new Set(['provider_processes', 'lineages'])

/** All that requests can leave behind: the rows of the database, but for the signs of life of processes, and the names of the files. */
export async function traces (app: App): Promise<unknown> {
  const folder = join(app.get('config').dataDirectory, 'files')
  const rows = Object.entries(await dump(app)).filter(([table]) => !signsOfLife.has(table))
  return { rows, files: await readdir(folder, { recursive: true }).catch(() => []) }
}

/** `operation`: the id in the API's document. */
export type Route = { method: string, url: string, public: boolean, operation?: string, config: FastifyContextConfig }

/** Every route of the service, hidden ones too. */
export async function routesOf (app: App): Promise<Route[]> {
  const routes: RouteOptions[] = []
  const server = fastify({ exposeHeadRoutes: false })
  server.addHook('onRoute', (route) => {
    routes.push(route)
  })
  await server.register(appPlugin, app)
  await server.ready()
  await server.close()
  return routes.flatMap(({ method, url, config = {}, schema: { operationId } = {} }) =>
    [method].flat().map((each) => ({
      method: each,
      url,
      public: config.public === true,
      ...operationId === undefined ? {} : { operation: operationId },
      config
    }))
  )
}

const fitError = compile(ErrorBody)

/** Far above any answer to a person's mistake, far below what could be asked for to do harm. */
export const longestError = 100_000

/** Asserts that an answer is an error of the table, in the documented form. */
export function isError (t: Test, { status, headers, body }: Answer, word: ErrorWord, name: string = word): void {
  t.same([status, body.error], [errorTable[word].status, word], name)
  has(t, fitError(body), { ok: true }, `${name}: the documented body`)
  t.equal(headers.get('x-request-id'), body.requestId, `${name}: X-Request-ID`)
  t.ok(JSON.stringify(body).length < longestError, `${name}: of bounded length`)
}

/** The service has met no fault of its own. */
export function hasNoFault (t: Test, { log }: TestService): void {
  t.same(log.filter((line) => (JSON.parse(line) as { level: number }).level >= 50), [], 'nothing is logged as an error')
}
