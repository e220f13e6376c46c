import { readdirSync, readFileSync } from 'node:fs'
import pg from 'pg'
import t from 'tap'
import { seededDatabase } from '../../support/service.ts'

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')

/** The tables that the operators' page names in the first column of its table, with why each has a key without its company. */
function explained (): string[] {
  const [, rows = ''] = /^\| tables of companies without [^\n]*\n\|[-|]*\n((?:\|[^\n]*\n)+)/m.exec(read('plugins/guides/scaling.md')) ?? []
  return rows.split('\n').flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, table = '']) => table))
}

await t.test('every table of companies has the company in its key, or a reason in plugins/guides/scaling.md', async (t) => {
  const client = new pg.Client({ connectionString: await seededDatabase(t) })
  await client.connect()
  const { rows } = await client.query<{ name: string }>(`
    select relname as name from pg_class join pg_attribute on attrelid = pg_class.oid and attname = 'company_id'
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not exists (
      select from pg_index where indrelid = pg_class.oid and indisprimary and attnum = any (indkey))
    order by relname`)
  t.same(rows.map(({ name }) => name), explained().sort())

  const { rows: across } = await client.query<{ key: string }>(`
    select conrelid::regclass || ': ' || pg_get_constraintdef(oid) as key from pg_constraint
    where contype = 'f' and connamespace = 'public'::regnamespace
      and exists (select from pg_attribute where attrelid = conrelid and attname = 'company_id')
      and not exists (select from pg_attribute where attrelid = confrelid and attname = 'company_id')`)
  t.same(across, [], 'no row of a company refers to one that is of none')
  await client.end()
})

const calls = 'core/store/calls'
const functions = readdirSync(new URL(`../../../${calls}`, import.meta.url)).filter((file) => file.endsWith('.sql'))
/** The queue has the jobs of all companies: it calls this one as the owner, and names the company of each dispatch. */
const ofAnyCompany = ['take_queued.sql']
const entries = functions.filter((file) =>
  !ofAnyCompany.includes(file) && /create function calls\.\w+\(given jsonb/.test(read(`${calls}/${file}`))
)

await t.test('each function of the database is of one company before it touches a table, until it adds jobs', (t) => {
  t.ok(entries.length > 8)
  for (const file of entries) {
    const body = read(`${calls}/${file}`).replace(/--.*/g, '')
    const [before = '', after = ''] = body.split(/perform calls\.become\(\w+\.company_id, moment\);/)
    t.notOk(/\b(?:insert into|update|delete from|join)\b|\bfrom (?!jsonb_to_record)/.test(before), `${file}: the company comes first`)
    t.not(after, '', `${file}: the company is that of what was given`)
    t.notOk(/calls\.become|set_config\('role'|app\.company/.test(after), `${file}: it stays the company`)
    const [, last = ''] = /perform calls\.add_jobs\([^;]*;([^]*)$/.exec(after) ?? []
    t.notOk(/\b(?:insert into|update|delete from|select)\b/.test(last), `${file}: nothing follows the jobs, which are the owner's`)
  }
  t.end()
})
