import { PDFDocument } from '@cantoo/pdf-lib'
import { randomUUIDv7 } from 'node:crypto'
import t from 'tap'
import { words as ofAlerts } from '../../core/packages/features/alerts/words.en.ts'
import { words as ofFiles } from '../../core/packages/features/files/words.en.ts'
import { words as ofLinks } from '../../core/packages/features/links/words.en.ts'
import { languages, wordFor } from '../../plugins/console/language/language.ts'
import { contains, has } from '../support/matching.ts'
import { startService } from '../support/service.ts'
import { openConsole } from './support/console.ts'

const { en } = languages
const newest = { 'x-api-version': '1.1.0' }
let daysAgo = 0
const now = (): Date => new Date(Date.now() - daysAgo * 86_400_000)
/** An id of that time: lists know the time of dispatches by their ids. */
const newId = (): string => {
  const time = now().getTime().toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}${randomUUIDv7().slice(13)}`
}
const service = await startService(t, { replacements: { newId, now } })
const { send } = service
const { post, signIn } = openConsole(service)
const { admin, member, companyId } = await service.company('counted', { credits: 100 })
const cookie = await signIn(admin)
await send('PUT', '/api/v1/company/providers/simulator', { body: { settings: { allowedSenders: ['@acme.test'] } } }, admin)

async function onePage (): Promise<Buffer> {
  const made = await PDFDocument.create()
  made.addPage([595, 842])
  return Buffer.from(await made.save())
}

/** A fact of the page that asks. */
const fact = (name: string, value: string): string => `<dt>${name}</dt><dd>${value}</dd>`

async function requested (path: string, fields: Record<string, string>, ...facts: [string, string][]): Promise<void> {
  const { status, body } = await post(path, fields, cookie)
  t.equal(status, 200, path)
  for (const [name, value] of facts) contains(t, body, fact(name, value), path)
}

await t.test('who removes a file reads how many that wait need it, a dispatch of many steps once', async (t) => {
  const upload = (name: string, body: Buffer) =>
    send('POST', `/api/v1/files?filename=${name}`, { body, headers: { 'content-type': 'application/octet-stream' } }, admin)
  const { body: { id } } = await upload('terms.pdf', await onePage())
  await requested(`/files/${id}/remove`, {}, [ofFiles.fileWaiting, '0'])
  for (const note of ['one', 'two']) {
    const request = { note, email: { attachments: [{ fileId: id }, { fileId: id }] } }
    await send('POST', '/api/v1/drafts', { body: { service: 'email', request } }, admin)
  }
  await requested(`/files/${id}/remove`, {}, [ofFiles.fileWaiting, '2'])
  const uses = service.app.get('fileUses')
  const counted = async (most?: number): Promise<number> =>
    (await Promise.all(uses.map((use) => use(companyId, [String(id)], most)))).reduce((sum, counts) => sum + (counts.get(String(id)) ?? 0),
      0)
  t.same([await counted(), await counted(1)], [2, 1], 'no more are looked into than asked')
  const mail = {
    providerName: 'simulator',
    from: 'billing@acme.test',
    to: 'ada@example.com',
    subject: 'S',
    body: 'T',
    attachments: [{ fileId: id }]
  }
  const chain = {
    providerName: 'simulator',
    document: { fileId: (await upload('contract.pdf', await onePage())).body.id },
    signers: [{ email: 'ada@example.com', firstName: 'Ada', lastName: 'L' }],
    esign: { places: [{ signer: 1, page: 1, x: 72, y: 600 }] },
    deferred: [{ on: 'esign.completed', service: 'email', ...mail }, { on: 'esign.completed', service: 'email', ...mail }],
    sendAt: new Date(Date.now() + 3 * 86_400_000).toISOString()
  }
  const later = await send('POST', '/api/esign', { body: chain, headers: newest }, admin)
  has(t, later, { status: 200, body: { dispatchId: String } })
  await requested(`/files/${id}/remove`, {}, [ofFiles.fileWaiting, '3'])
  const read = async (query = '') => (await send('GET', `/api/v1/files/${String(id)}${query}`, {}, admin)).body
  has(t, await read('?waiting=true'), { waiting: 3 })
  t.notOk('waiting' in await read(), 'nothing is counted unless it is asked')
})

await t.test('who removes an alert reads to how many it tells what', async () => {
  const { body: { id } } = await send('POST', '/api/v1/alerts', {
    body: { name: 'Doubts', kind: 'doubt', minutes: 60, emails: [admin.email, member.email], callback: true }
  }, admin)
  await requested(`/alerts/${id}/remove`, {}, [ofAlerts.alertKind, ofAlerts.alertKind_doubt], [ofAlerts.alertEmails, '2'], [
    ofAlerts.alertTells,
    ofAlerts.alertWay_callback
  ])
})

await t.test('who withdraws an invitation reads what it would have given', async () => {
  const { body: { id, expiresAt } } = await send('POST', '/api/v1/company/invitations', {
    body: { email: 'guest@counted.example.com', role: 'member', services: ['sms', 'email'] }
  }, admin)
  await requested(`/company/invitations/${id}/withdraw`, {}, [en.services, '2'], [ofLinks.linkUntil, String(expiresAt).slice(0, 10)])
})

await t.test('who ends the ways in of a user reads how many there are', async (t) => {
  await signIn(member)
  await send('POST', '/api/v1/keys', { body: { name: 'Shop', mode: 'live' } }, member)
  const { data } = (await send('GET', '/api/v1/users', {}, admin)).body
  const { id } = (data as { id: number, email: string }[]).find(({ email }) => email === member.email) ?? { id: 0 }
  await send('POST', '/api/v1/my/second-factor', {}, member)
  has(t, (await send('GET', `/api/v1/users/${id}`, { headers: newest }, admin)).body, { ways: { sessions: 1, keys: 1, factors: 0 } })
  await requested(`/company/users/${id}/reset`, {}, [en.sessions, '1'], [en.keys, '1'], [en.factorsSetUp, '0'])
  await requested(`/company/users/${id}/second-factor`, {}, [en.factorsSetUp, '0'], [en.sessions, '1'])
})

await t.test('who keeps data for fewer days reads how many dispatches lose theirs: older ones have none any more', async (t) => {
  const days = [10, 10, 100]
  for (const ago of days) {
    daysAgo = ago
    const message = `${ago} days ago`
    const text = { providerName: 'simulator', sms: { phoneNumber: '+33612345678', message } }
    has(t, await send('POST', '/api/sms', { body: text }, admin), { status: 200 })
  }
  daysAgo = 0
  await requested('/privacy/retention', { days: '30', sms: '7' }, ['SMS', '90 → 7 days; dispatches that lose their data: 2'], [
    wordFor(en, 'service', 'email'),
    '90 → 30 days; dispatches that lose their data: 0'
  ])
})
