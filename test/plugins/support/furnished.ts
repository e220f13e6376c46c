import { sql } from 'kysely'
import { randomUUIDv7 } from 'node:crypto'
import { noteCallback } from '../../../core/packages/features/callbacks/store/outbox.ts'
import { until } from '../../core/work/support.ts'
import type { Login, TestService } from '../../support/service.ts'
import { invoiceRequest } from '../../support/service.ts'
import type { Made } from './console-pages.ts'
import { receiveInvoice } from './received-invoice.ts'
import { letter } from './templates.ts'

type Company = Awaited<ReturnType<TestService['company']>>

const point = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

/** What the service refused to take, by what it was to be. */
export type Refused = Record<string, string[]>

/**
 * Has a company write each of the texts wherever its people, its clients, its templates and the vendor `vendor` can write one: what the API
 * refuses is told, and what only others write (a browser's name, a vendor's event) is put where they would.
 */
export async function furnished (
  { app, send }: TestService,
  company: Company,
  { texts, vendor, adapter }: { texts: readonly string[], vendor: string, adapter: string }
): Promise<{ made: Made, refused: Refused }> {
  const { owner } = app.get('database')
  const { companyId, admin } = company
  const refused: Refused = {}

  /** Sends something with a text in it; what is refused is noted. */
  async function write (
    what: string,
    text: string,
    method: string,
    path: string,
    body: object,
    login: Login = admin,
    headers: Record<string, string> = {}
  ): Promise<any> {
    const answer = await send(method, path, { body, headers }, login)
    // A vendor's refusal is of a dispatch that there is.
    if ([400, 422].includes(answer.status) && answer.body.dispatchId === undefined) (refused[what] ??= []).push(text)
    return answer.body
  }
  const made = {
    dispatchIds: [] as string[],
    templateIds: [] as number[],
    endpointIds: [] as string[],
    approvalIds: [] as string[],
    proposalIds: [] as string[],
    contactId: '',
    alertId: '',
    ruleId: '',
    reportId: '',
    receivedId: '',
    eInvoiceDraftId: ''
  }
  const { body: { sample } } = await send('GET', '/api/v1/templates/4', {}, admin)
  const note = (list: unknown[], value: unknown): void => {
    if (value !== undefined) list.push(value)
  }
  const dispatch = async (what: string, text: string, body: object, service = 'invoicing'): Promise<string | undefined> => {
    const answer = await write(what, text, 'POST', `/api/${service}`, body)
    return (answer.dispatchId ?? undefined) as string | undefined
  }

  for (const service of ['invoicing', 'esign', 'postal', 'sms', 'email', 'file']) {
    await send('PUT', `/api/v1/company/defaults/${service}`, { body: { providerName: 'simulator' } }, admin)
  }
  for (const [index, text] of texts.entries()) {
    const number = String(index)
    const titled = { type: 'string', title: text, description: text, enum: ['Ada', text] }
    const schema = { type: 'object', additionalProperties: true, required: ['name'], properties: { name: titled } }
    const written = letter({ name: JSON.stringify(text), greeting: 'Dear', schema, sample: { name: text, [text]: text } })
    const { id } = await write('template', text, 'POST', '/api/v1/templates', written)
    if (id !== undefined) {
      note(made.templateIds, id)
      await write('template', text, 'PUT', `/api/v1/templates/${String(id)}`, { ...written, baseVersion: 1 })
      await send('POST', `/api/v1/templates/${String(id)}/publish`, { body: { version: 2 } }, admin)
    }
    const callback = await write('callback URL', text, 'POST', '/api/v1/company/callback-endpoints', {
      name: text,
      url: `https://hooks.acme.test/${number}?${text}`,
      enabled: false
    })
    if (callback.id === undefined) {
      const plain = { name: text, url: `https://hooks.acme.test/${number}`, enabled: false }
      note(made.endpointIds, (await write('endpoint', text, 'POST', '/api/v1/company/callback-endpoints', plain)).id)
    } else note(made.endpointIds, callback.id)

    const data = { number: text, customer: { name: text, email: 'ada@example.com', address: text, city: text, country: 'GB' }, notes: text }
    const metadata = { note: text }
    await dispatch('name of metadata', text, invoiceRequest({}, { metadata: { [text]: 'x' } }))
    const request = (reference: string): object => invoiceRequest(data, { metadata, invoicing: { reference } })
    note(made.dispatchIds, await dispatch('invoice', text, request('reject')))
    note(made.dispatchIds, await dispatch('vendor', text, { ...request(number), providerName: vendor }))
    const uncertain = await dispatch('uncertain invoice', text, invoiceRequest({ ...data, number: `${number} ${text}` }, {
      metadata,
      invoicing: { reference: 'uncertain' }
    }))
    if (uncertain !== undefined && index % 2 === 0) {
      await write('reason', text, 'POST', `/api/v1/dispatches/${uncertain}/resolve`, { outcome: 'accepted', reason: text })
    }
    note(made.dispatchIds, uncertain)
    await dispatch('text message', text, { sms: { phoneNumber: '+33612345678', message: text }, metadata }, 'sms')
    const mail = { from: `"${text}" <demo@example.com>`, to: [`"${text}" <ada@example.com>`], subject: text, body: text }
    await dispatch('sender', text, { email: mail, metadata }, 'email')
    await dispatch('mail', text, { email: { ...mail, from: 'demo@example.com', to: ['ada@example.com'] }, metadata }, 'email')
    const recipient = { name: text, company: text, address: text, city: text, postalCode: '75002', country: 'FR' }
    await dispatch('letter', text, { ...invoiceRequest(), postal: { recipient }, documentType: undefined }, 'postal')
    await dispatch('file name', text, {
      template: { id: made.templateIds.at(-1), data: { name: 'Ada' } },
      file: { filename: text },
      metadata
    }, 'file')
    await dispatch('signer', text, {
      template: (invoiceRequest() as { template: object }).template,
      signers: [{ email: 'ada@example.com', firstName: text, lastName: text }]
    }, 'esign')

    const contact = await write('contact', text, 'POST', '/api/v1/contacts', { name: text, contact: text, city: text })
    if (contact.id !== undefined) made.contactId = contact.id as string
    made.receivedId = await receiveInvoice({ app }, companyId, text)
    const alert = await write('alert', text, 'POST', '/api/v1/alerts', {
      name: text,
      kind: 'doubt',
      minutes: 60,
      emails: [admin.email],
      callback: true,
      chat: { format: 'slack', url: 'https://hooks.chat.example.com/secret' }
    })
    if (alert.id !== undefined) made.alertId = alert.id as string
    await write('settings of reports', text, 'PUT', '/api/v1/e-reports/settings', {
      siren: '732829320',
      name: text,
      platform: { id: '0042', name: text },
      regime: 'SIMPLIFIED',
      providerName: 'simulator',
      usualNature: 'GOODS'
    })
    const report = await write('report', text, 'POST', '/api/v1/e-reports', { kind: 'transactions', day: '2026-03-14' })
    if (report.id !== undefined) made.reportId = report.id as string
    const draft = { service: 'invoicing', request: { note: text }, shared: true }
    await write('draft', text, 'POST', '/api/v1/drafts', draft)
    const invoice = { ...sample, number: text, customer: { ...sample.customer, name: text } }
    const { body: begun } = await send('POST', '/api/v1/drafts', {
      body: { service: 'invoicing', request: { template: { id: 4, data: invoice } } }
    }, admin)
    if (begun.id !== undefined) made.eInvoiceDraftId = begun.id as string
    note(made.proposalIds, (await write('proposal', text, 'POST', '/api/v1/proposals', {
      service: 'sms',
      request: { sms: { phoneNumber: '+33612345678', message: text } },
      reason: text
    })).id)
    const rule = await write('rule', text, 'POST', '/api/v1/company/approval-rules', { name: text, services: ['sms'] })
    const sms = { providerName: 'simulator', sms: { phoneNumber: '+33612345678', message: text } }
    note(made.approvalIds, (await write('approval', text, 'POST', '/api/sms', sms, admin, { 'x-api-version': '1.1.0' })).approvalId)
    if (rule.id !== undefined) {
      // One that asks for nothing that is sent here.
      made.ruleId = rule.id as string
      await send('PUT', `/api/v1/company/approval-rules/${made.ruleId}`, { body: { name: text, rowsAbove: 1_000_000 } }, admin)
    }
    await write('key', text, 'POST', '/api/v1/keys', { name: text, mode: 'live' })
    await write('user', text, 'POST', '/api/v1/users', { email: text, password: 'a good password', role: 'member', services: [] })
    await write('invitation', text, 'POST', '/api/v1/company/invitations', { email: text, role: 'member', services: [] })
    await write('credits', text, 'POST', `/api/v1/companies/${String(companyId)}/credits`, { amount: 1, reason: text }, company.operator)
    await write('settings', text, 'PUT', `/api/v1/company/providers/${vendor}`, { settings: { region: text, token: text } })
    await send('GET', `/api/v1/templates/${encodeURIComponent(text)}`, {}, admin)
  }
  const { body: { id: userId } } = await send('POST', '/api/v1/users', {
    body: { email: `grace@${String(companyId)}.example.com`, password: 'a good password', role: 'member', services: [] }
  }, admin)
  const [text = ''] = texts
  for (const name of texts) await write('company', name, 'PUT', `/api/v1/companies/${String(companyId)}`, { name }, company.operator)
  for (const each of texts) {
    await owner.transaction().execute((queries) =>
      noteCallback(queries, {
        companyId,
        dispatchId: made.dispatchIds[0] ?? '',
        type: 'dispatch.succeeded',
        url: `https://hooks.acme.test/?${each}`,
        data: { name: each },
        now: new Date(),
        due: app.get('database').now,
        newId: randomUUIDv7
      })
    )
    await sql`insert into passkeys (passkey_id, company_id, user_id, credential, public_key, counter, transports, name, created_at)
      select ${randomUUIDv7()}, ${companyId}, user_id, ${randomUUIDv7()}, '', 0, '{}', ${each}, now() from users
      where email = ${admin.email}`.execute(owner)
  }
  await sql`insert into request_log (entry_id, company_id, user_id, request_id, method, route, path, status, milliseconds, address)
    values (${randomUUIDv7()}, ${companyId}, 0, ${text}, 'GET', ${text}, ${text}, 200, 1, ${text})`.execute(owner)
  const asset = `logo-${String(companyId)}`
  await send('POST', '/api/v1/assets', { body: { name: asset, image: point } }, admin)
  await send('PUT', `/api/v1/partials/${asset}`, { body: { kind: 'partial', source: 'blocks: [{ paragraph: Hi }]' } }, admin)
  const invited = await send('POST', '/api/v1/company/invitations', {
    body: { email: `guest@${String(companyId)}.example.com`, role: 'member', services: [] }
  }, admin)
  const rows = texts.map((each) => `${JSON.stringify({ id: each, sms: { phoneNumber: each, message: each } })}\n`).join('')
  const { body: { batchId } } = await send('POST', '/api/v1/batches?service=sms&mode=valid', {
    body: Buffer.from(rows),
    headers: { 'content-type': 'application/x-ndjson' }
  }, admin)
  // One that somebody else has to approve.
  const { body: listRule } = await send('POST', '/api/v1/company/approval-rules', { body: { name: 'Lists', rowsAbove: 0 } }, admin)
  const listed = texts.map((message) => `${JSON.stringify({ providerName: 'simulator', sms: { phoneNumber: '+33612345678', message } })}\n`)
  const { body: { batchId: waitingBatch } } = await send('POST', '/api/v1/batches?service=sms&mode=valid', {
    body: Buffer.from(listed.join('')),
    headers: { 'content-type': 'application/x-ndjson' }
  }, admin)
  const approvalOf = async (): Promise<unknown> =>
    (await send('GET', '/api/v1/approvals', {}, admin)).body.data.find((one: { batchId: string }) => one.batchId === waitingBatch)?.id
  await until('the batch waits for an approval', async () => await approvalOf() !== undefined)
  note(made.approvalIds, await approvalOf())
  await send('DELETE', `/api/v1/company/approval-rules/${String(listRule.id)}`, {}, admin)
  const { body: { id: suppressionId } } = await send('POST', '/api/v1/suppressions', {
    body: { channel: 'email', address: `tired@${String(companyId)}.example.com`, note: text }
  }, admin)
  const { body: { id: erasureId } } = await send('POST', '/api/v1/privacy/erasures', {
    body: { reference: `nobody-${String(companyId)}`, countFirst: true }
  }, admin)
  await until('it is counted',
    async () => (await send('GET', `/api/v1/privacy/erasures/${String(erasureId)}`, {}, admin)).body.status === 'counted')
  const { body: { id: fileId } } = await send('POST', `/api/v1/files?filename=${encodeURIComponent(text)}`, {
    body: 'A',
    headers: { 'content-type': 'text/plain' }
  }, admin)
  await send('PUT', '/api/v1/suppressions/templates/1', { body: { reasons: ['manual'] } }, admin)
  const token = /\/link\/([\w-]+)/.exec(JSON.stringify(invited.body))?.[1] ?? ''
  const { rows: [document] } = await sql<{ id: string }>`select document_id as id from documents where company_id = ${companyId} limit 1`
    .execute(owner)
  const { rows: [step] } = await sql<{ id: string }>`select step_id as id from steps where company_id = ${companyId}
    order by status = 'uncertain' desc limit 1`.execute(owner)
  const [documentId, stepId] = [document?.id ?? '', step?.id ?? '']
  return {
    made: {
      ...made,
      companyId,
      userId,
      asset,
      batchId,
      suppressionId,
      erasureId,
      fileId,
      token,
      documentId,
      stepId,
      provider: vendor,
      adapter
    },
    refused
  }
}
