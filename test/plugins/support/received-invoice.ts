import { hash, randomUUIDv7 } from 'node:crypto'
import { writeInvoice } from '../../../core/packages/einvoice/index.ts'
import { plain } from '../../../core/packages/einvoice/test/support.ts'
import { tablesIn } from '../../../core/packages/features/received-invoices/store/tables.ts'
import type { TestService } from '../../support/service.ts'

const customer = { name: 'Létang', city: 'Paris', country: 'FR', registration: { id: '404833048', scheme: '0002' } }

/** Has a company receive an e-invoice, as if it had come by `flow` and been read; answers its id. `text` is what its sender has written. */
export async function receiveInvoice ({ app }: Pick<TestService, 'app'>, companyId: number, text = 'Acme Tea'): Promise<string> {
  const data = { ...plain, currency: 'EUR', customer, seller: { ...plain.seller, registration: { id: '732829320', scheme: '0002' } } }
  const bytes = Buffer.from(writeInvoice(data, 'EN16931', 'CII'))
  const id = randomUUIDv7()
  const key = `received/${companyId}/${id}`
  await app.get('files').put(key, bytes)
  const file = { filename: 'F-1.xml', contentType: 'application/xml', size: bytes.length, sha256: hash('sha256', bytes), key }
  const facts = {
    format: 'CII',
    profile: 'EN16931',
    number: text,
    seller: text,
    currency: 'EUR',
    total: '24.00',
    amountDue: '24.00',
    brokenRules: 0
  }
  const now = app.get('now')()
  await tablesIn(app.get('database').owner).insertInto('received_invoices').values({
    company_id: companyId,
    received_id: id,
    provider_code: 'flow',
    sandbox: false,
    remote_id: id,
    state: 'readable',
    file: JSON.stringify(file),
    facts: JSON.stringify(facts),
    number: text,
    received_at: now,
    taken_at: now,
    next_at: now
  }).execute()
  return id
}
