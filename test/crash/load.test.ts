import { PDFDocument } from '@cantoo/pdf-lib'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { check } from './check.ts'
import { place, type Told } from './client.ts'
import { openInstallation } from './installation.ts'
import { fields, type Order } from './plan.ts'

// tap's word for a test that is out of time: everything that was started ends with this process.
process.once('SIGALRM', () => process.exit(1))
// Forty seconds where the machine has nothing else to do, minutes where it has; tap takes the limit of a file from such a comment.
t.setTimeout(400_000)
t.comment('timeout=400000')

/**
 * How many dispatches are queued, every fourth for its time, and of how many the vendor has heard when all processes are killed: while
 * those wait, and while they are sent.
 */
const [queued, heard] = [64, [20, 56]] as const
/** Milliseconds until they are due. */
const dueIn = 15_000

/** What the vendor does with each: most are caught in the call, before the vendor has accepted them or after. */
const scripts = ['wait accept answer', 'accept wait answer', 'wait accept answer', 'accept wait answer', 'wait accept answer',
  'accept cut'] as const

/** Of these every fifth is a letter of two files, which are joined; the others are invoices. Their time is that of whoever asks. */
const orders = (files: readonly string[]): Order[] =>
  Array.from({ length: queued }, (_, index): Order => {
    const service = index % 5 === 4 ? 'postal' : 'invoicing'
    return {
      number: index + 1,
      at: 0,
      mode: 'asynchronous',
      path: `/api/${service}?async=true`,
      body: {
        ...(service === 'postal' ? letterOf(index + 1, files) : fields.invoicing(index + 1)),
        ...(index % 4 === 3 ? { sendAt: new Date(Date.now() + dueIn).toISOString() } : {}),
        providerName: service === 'postal' ? 'posted' : index % 2 === 0 ? 'keyed' : 'searched',
        metadata: { order: String(index + 1), [service]: scripts[index % scripts.length] }
      },
      version: '1.1.0',
      keyed: true,
      retries: 0
    }
  })

/** A letter whose document is given, with another one behind it. */
function letterOf (number: number, [fileId = '', ...others]: readonly string[]): Record<string, unknown> {
  const { template: _, postal, ...letter } = fields.postal(number)
  return { ...letter, document: { fileId }, postal: { ...postal as object, documents: others.map((other) => ({ fileId: other })) } }
}

/** Uploads a PDF of so many pages; answers its id. */
async function upload (url: string, token: string, pages: number): Promise<string> {
  const made = await PDFDocument.create()
  for (let page = 0; page < pages; page++) made.addPage()
  const headers = { 'authorization': `Bearer ${token}`, 'content-type': 'application/pdf', 'x-api-version': '1.1.0' }
  const answer = await fetch(`${url}/api/v1/files?filename=${pages}.pdf`, { method: 'POST', headers, body: Buffer.from(await made.save()) })
  return (await answer.json() as { id: string }).id
}

void t.test(`of ${queued} invoices and letters that were queued when every process was killed each succeeds, once`, async (t) => {
  const installation = await openInstallation({ serving: 1, working: 1 })
  try {
    const over = new AbortController()
    const [url = ''] = installation.urls
    const files = await Promise.all([1, 2].map((pages) => upload(url, installation.token, pages)))
    const told: Told[] = await Promise.all(orders(files).map((order) => place(order, installation.urls, installation.token, over.signal)))
    t.equal(told.filter(({ answer }) => answer?.status === 200).length, queued, 'all are accepted')
    for (const count of heard) {
      while ((await installation.vendor.receipts()).length < count) await pause(20)
      for (const process of installation.processes) process.kill()
    }
    const statuses = (): Promise<{ status: string, providers: string, count: number }[]> =>
      installation.database.rows(
        'select dispatches.status, count(*)::int, string_agg(distinct provider_code, \' \' order by provider_code) as providers ' +
          'from dispatches join steps using (dispatch_id) group by 1'
      )
    const ended = new Set(['succeeded', 'failed', 'partial', 'cancelled'])
    while ((await statuses()).some(({ status }) => !ended.has(status))) await pause(500)
    t.strictSame(await statuses(), [{ status: 'succeeded', count: queued, providers: 'keyed posted searched' }])
    const letters = (await installation.vendor.receipts()).filter(({ service }) => service === 'postal')
    t.equal(new Set(letters.map(({ sha256 }) => sha256)).size, 1, 'files are joined to the same letter each time')
    t.strictSame(await check(installation, told), [])
    t.ok((await installation.database.rows('select from events where kind = \'recovered\'')).length > 0,
      'some were under way when they were killed')
  } finally {
    await installation.close()
  }
})
