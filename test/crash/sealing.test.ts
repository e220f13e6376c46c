import { isSealed } from '@dispatch/files'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import t from 'tap'
import { type CommandResult, root, runDispatch } from '../e2e/support/process.ts'
import { has } from '../support/matching.ts'
import { quickRenderer } from '../support/quick-renderer.ts'
import { invoiceRequest, seededDatabase, startService, type TestService } from '../support/service.ts'

// tap's word for a test that is out of time: everything that was started ends with this process.
process.once('SIGALRM', () => process.exit(1))
t.setTimeout(400_000)
t.comment('timeout=400000')

/** Dispatches with documents, and calls that are noted of the first of them, so that there is enough to seal to be killed in the middle. */
const [dispatches, calls] = [24, 3_000] as const
/** How often the command is killed: while it seals the database, and while it seals files. */
const [killsOfValues, killsOfFiles] = [4, 3] as const

type Sent = { id: string, documentId: string }

async function read ({ send }: TestService, { id, documentId }: Sent): Promise<{ dispatch: unknown, document: unknown }> {
  const [{ body: dispatch }, { body: document }] = [
    await send('GET', `/api/v1/dispatches/${id}`),
    await send('GET', `/api/v1/documents/${documentId}`)
  ]
  return { dispatch, document }
}

async function dispatch ({ send }: TestService): Promise<Sent> {
  const { status, body } = await send('POST', '/api/invoicing', { body: invoiceRequest() })
  if (status !== 200) throw new Error(`It answered ${status}: ${JSON.stringify(body)}`)
  return { id: body.dispatchId, documentId: body.generatedDocument.id }
}

void t.test('what was stored before there were keys is sealed once and whole, however often the command is killed while dispatches go on',
  async (t) => {
    const databaseUrl = await seededDatabase(t)
    const bare = new pg.Pool({ connectionString: databaseUrl, max: 2 })
    t.teardown(() => bare.end())
    const replacements = { renderer: quickRenderer }
    const before = await startService(t, { databaseUrl, replacements })
    const { dataDirectory, masterKey = '' } = before.app.get('config')
    const sent: Sent[] = []
    for (let number = 0; number < dispatches; number++) sent.push(await dispatch(before))
    await bare.query(`insert into exchange_log (entry_id, company_id, dispatch_id, service, provider, outcome, exchanges)
      select gen_random_uuid(), company_id, dispatch_id, 'invoicing', 'noted', 'accepted', jsonb_build_array(jsonb_build_object('number', number))
      from dispatches, generate_series(1, ${calls}) as number where dispatch_id = $1`, [sent[0]?.id])
    const stored = await Promise.all(sent.map((one) => read(before, one)))

    const keys = join(t.testdir(), 'keys')
    const after = await startService(t, { databaseUrl, config: { dataDirectory, masterKey, dataKeys: { folder: keys } }, replacements })
    const env = { DATABASE_URL: databaseUrl, DISPATCH_DATA_DIR: dataDirectory, DISPATCH_MASTER_KEY: masterKey, DISPATCH_KEYS: keys }
    const seal = (): Promise<CommandResult> => runDispatch(['keys', 'seal'], { env })
    const files = async (): Promise<boolean[]> => {
      const found = await readdir(join(dataDirectory, 'files'), { recursive: true, withFileTypes: true })
      const whole = found.filter((entry) => entry.isFile() && !entry.name.endsWith('.part'))
      return Promise.all(whole.map(async (entry) => isSealed(await readFile(join(entry.parentPath, entry.name)))))
    }
    const plainCalls = async (): Promise<number> => {
      const { rows } = await bare.query(`select count(*)::integer as count from exchange_log where not exchanges ? 'sealed:1'`)
      return rows[0].count
    }
    const plainFiles = async (): Promise<number> => (await files()).filter((is) => !is).length

    /** Kills the command as soon as so few are left as they are; it may also end before. Answers whether it was killed. */
    async function killAt (left: () => Promise<number>, few: number): Promise<boolean> {
      const child = spawn(process.execPath, ['scripts/dispatch.ts', 'keys', 'seal'], {
        cwd: root,
        env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...env },
        stdio: 'ignore'
      })
      const ended = once(child, 'exit') as Promise<[code: number | null, signal: NodeJS.Signals | null]>
      while (child.exitCode === null && await left() > few) await pause(1)
      child.kill('SIGKILL')
      const [, signal] = await ended
      return signal === 'SIGKILL'
    }

    const meanwhile: Sent[] = []
    for (const [kills, left] of [[killsOfValues, plainCalls], [killsOfFiles, plainFiles]] as const) {
      let amidst = 0
      for (let kill = 0; kill < kills; kill++) {
        const now = await left()
        // The first one comes when a quarter is sealed, so that there is much left.
        const few = Math.floor(now * (kill === 0 ? 0.75 : Math.random()))
        const [one, killed] = await Promise.all([dispatch(after), killAt(left, few)])
        meanwhile.push(one)
        const rest = await left()
        t.ok(rest <= now, `${now} were left as they are, and ${rest} are after a kill`)
        if (killed && rest > 0 && rest < now) amidst++
      }
      t.ok(amidst > 0, `${amidst} of ${kills} kills were in the middle of sealing`)
    }
    has(t, await seal(), { code: 0, stderr: '' })
    has(t, await seal(), { code: 0, stdout: /^0 values of the database and 0 files were sealed that were stored as they are\.\n$/ })

    t.strictSame(await Promise.all(sent.map((one) => read(after, one))), stored, 'all of it opens, and is as it was')
    const noted = await after.app.get('database').owner.selectFrom('exchange_log').select('exchanges').where('provider', '=', 'noted')
      .execute()
    const numbers = noted.map(({ exchanges: [only] }) => (only as unknown as { number: number }).number)
    t.strictSame(numbers.toSorted((a, b) => a - b), Array.from({ length: calls }, (_, at) => at + 1))
    for (const { document } of await Promise.all(meanwhile.map((one) => read(after, one)))) t.ok(String(document).startsWith('%PDF-'))
    t.strictSame(await files(), Array.from({ length: dispatches + meanwhile.length }, () => true))
  })
