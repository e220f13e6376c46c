import { defineFeature, service } from '@dispatch/plugins/feature'
import { invoiceReader } from '../e-invoices/service/reader.ts'
import { receivedPages } from './pages/received-invoices.ts'
import { receivedRoutes } from './routes/received-invoices.ts'
import { answers, createAnswers } from './service/answers.ts'
import { createIntake, intake, workOnReceived } from './service/intake.ts'
import { createReceivedInvoices, receivedInvoices } from './service/received.ts'
import { receivedHolders } from './store/holder.ts'
import { fillReceived } from './store/tables.ts'
import { words as en } from './words.en.ts'
import { words as fr } from './words.fr.ts'

const reading = { scopes: ['read_all'] } as const

/** E-invoices that others have sent to a company: taken in, read, and answered. */
export default defineFeature({
  name: 'received-invoices',
  needs: {
    ...service('config', 'database', 'files', 'log', 'newId', 'now', 'outbox', 'reception'),
    invoiceReader,
    receivedInvoices,
    receivedInvoiceAnswers: answers,
    receivedInvoiceIntake: intake
  },
  provides: (provide) => [
    provide(receivedInvoices,
      ({ config: { retentionDays }, database, files, invoiceReader: reader, now, reception }) =>
        createReceivedInvoices({ database, files, invoiceReader: reader, now, reception, retentionDays })),
    provide(answers,
      ({ database, files, invoiceReader: reader, log, now, outbox, reception }) =>
        createAnswers({ database, files, invoiceReader: reader, log, now, outbox, reception })),
    provide(intake,
      ({ config: { retentionDays }, database, files, invoiceReader: reader, log, newId, now, outbox, reception }) =>
        createIntake({ database, files, invoiceReader: reader, log, newId, now, outbox, reception, retentionDays }))
  ],
  tables: { receptions: 'company', received_invoices: 'company', received_statuses: 'company' },
  migrations: { 'received-invoices/001-received-invoices': () => import('./migrations/001-received-invoices.ts') },
  holds: (given) => receivedHolders(given.database, (companyId) => given.receivedInvoiceIntake.clean(companyId)),
  routes: receivedRoutes,
  permissions: {
    listReceivedInvoices: reading,
    readReceivedInvoice: reading,
    readReceivedInvoiceFile: reading,
    sayReceivedInvoiceStatus: { scopes: ['send'], irreversible: true },
    listReceptions: { scopes: ['read_all', 'configuration'] },
    setReception: { roles: ['admin'], scopes: ['configuration'] }
  },
  pages: receivedPages,
  menu: [{
    section: 'received-invoices',
    path: '/console/received',
    label: { en: en.received, fr: fr.received },
    after: 'e-invoices',
    roles: ['admin', 'member']
  }],
  work: (given) => workOnReceived(given.receivedInvoiceIntake, given.receivedInvoiceAnswers, given.log),
  audit: {
    'received_invoice.answered': { en: en.auditReceivedAnswered, fr: fr.auditReceivedAnswered },
    'reception.changed': { en: en.auditReceptionChanged, fr: fr.auditReceptionChanged }
  },
  isolation: fillReceived
})
